package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

var declared = []Parameter{
	{Name: "counter", Default: 7, Least: 1, Most: 9},
	{Name: "style", Words: []string{"direct", "scheduler"}},
	{Name: "share", Real: &Real{Default: 0.5, Most: 1}},
}

func TestParseTakesDefaultsAndValues(t *testing.T) {
	got, err := Parse([]string{"--style=scheduler", "--share=0.25", "--model=b"}, []string{"a", "b"}, declared)
	if err != nil {
		t.Fatal(err)
	}
	if got.Model != "b" || got.Integer("counter") != 7 || got.Values["style"] != "scheduler" || got.Real("share") != 0.25 {
		t.Errorf("got %+v", got)
	}
}

func TestParseNamesWhatIsValid(t *testing.T) {
	for argument, expected := range map[string]string{
		"--model=x":     "there are: a",
		"--contexts=2":  "--counter --model --share --style",
		"--share=NaN":   "0 … 1",
		"--counter=10":  "1 … 9",
		"--counter=two": "1 … 9",
		"--style=other": "direct|scheduler",
		"counter=2":     "expected --NAME=VALUE",
	} {
		_, err := Parse([]string{"--model=a", argument}, []string{"a"}, declared)
		if err == nil || !strings.Contains(err.Error(), expected) {
			t.Errorf("%s: expected an error with %q, got %v", argument, expected, err)
		}
	}
}

func TestMeasuredSampleIsOneLineOfJSON(t *testing.T) {
	sample := Sample{Workload: "w", Model: "m", Params: map[string]interface{}{"n": int64(1)}}
	kept := make([][]byte, 20000)
	sample.Measure(func(timed *Region) {
		timed.Begin()
		for i := range kept {
			kept[i] = make([]byte, 1024)
			kept[i][0] = 1 // a page that is not touched is not there
		}
		timed.End()
	})
	sample.Oracle = Oracle{OK: true, Checked: "it"}
	var out bytes.Buffer
	if err := sample.Print(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("not one line: %q", out.String())
	}
	var read Sample
	if err := json.Unmarshal(out.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if read.Metrics["wall_ns"] <= 0 || read.Metrics["total_ns"] < read.Metrics["wall_ns"] {
		t.Errorf("metrics: %v", read.Metrics)
	}
	if read.Metrics["grown_bytes"] < 10<<20 {
		t.Errorf("20 MB were allocated, and it grew by %v bytes", read.Metrics["grown_bytes"])
	}
	if read.Counters["allocations"] < 20000 || read.Counters["kernel_threads"] < 1 {
		t.Errorf("counters: %v", read.Counters)
	}
}

func TestExitCodesSayWhatWentWrong(t *testing.T) {
	for _, each := range []struct {
		err  error
		code int
		line string
	}{
		{nil, 0, ""},
		{Usage("--n=%d: expected 1", 2), 2, "error: --n=2: expected 1\n"},
		{Missing("no disk: mount one"), 77, "error: no disk: mount one\n"},
		{errors.New("it broke"), 1, "error: it broke\n"},
	} {
		var out, complaints bytes.Buffer
		code := end(func([]string) (Sample, error) { return Sample{}, each.err }, nil, &out, &complaints)
		if code != each.code || complaints.String() != each.line || (out.Len() > 0) != (each.err == nil) {
			t.Errorf("%v: code %d, %q, %q", each.err, code, out.String(), complaints.String())
		}
	}
	if _, err := Parse([]string{"--model=x"}, []string{"a"}, nil); !errors.As(err, new(UsageError)) {
		t.Errorf("%v is no usage error", err)
	}
}

func TestProcessSizeIsInBytes(t *testing.T) {
	size, err := ProcessSize()
	if err != nil {
		t.Fatal(err)
	}
	if size["VmRSS"] < 1<<20 || size["VmHWM"] < size["VmRSS"] || size["VmSize"] < size["VmRSS"] || size["VmPTE"] <= 0 {
		t.Errorf("got %v", size)
	}
}

// random_source.cpp of the C++ harness's tests expects the same.
func TestRandomNumbersAndDigestsAreTheSameInEveryLanguage(t *testing.T) {
	random := RandomSource(1)
	var numbers Digest
	for i := 0; i < 1000; i++ {
		numbers.Add(uint64(random.Below(1000)))
		numbers.Add(uint64(1000000 * random.Share()))
	}
	for _, each := range random.Permutation(1000) {
		numbers.Add(uint64(each))
	}
	if numbers.String() != "4130352702321177433" {
		t.Errorf("the digest is %v", numbers)
	}
}

func TestPOperationsAreCountedAndThoseThatWait(t *testing.T) {
	var mine PCount
	s := NewSemaphore(1, 2)
	s.P(&mine)
	go s.V()
	s.P(&mine) // usually before the other runs
	if mine.All != 2 || mine.Blocked > 1 {
		t.Errorf("got %+v", mine)
	}
	sample := Sample{Counters: map[string]float64{}}
	sample.CountP([]PCount{{All: 3, Blocked: 1}, {All: 1}}, "meal", 2)
	if sample.Counters["p_operations_per_meal"] != 2 || sample.Counters["blocked_p_operations"] != 1 {
		t.Errorf("got %v", sample.Counters)
	}
}
