package file

import (
	"os"
	"testing"
)

var kindsOfFile = map[string]func(*os.File) Records{"stream": NewStream, "positioned": NewPositioned}

func performed(t *testing.T, newRecords func(*os.File) Records) (*work, Records) {
	w := newWork(2000, 250, 10, 1)
	data, err := temporary(w.records)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = data.Close() })
	records := newRecords(data)
	w.run(records)
	return w, records
}

// oracle_test.cpp of the C++ models expects the same.
const expected = "6843435170492782844"

func TestEachKindOfFileKeepsWhatWasWritten(t *testing.T) {
	for name, newRecords := range kindsOfFile {
		w, data := performed(t, newRecords)
		result := w.result(data)
		if verdict := w.check(result); !verdict.OK || result != expected {
			t.Errorf("%s: %s, %s", name, verdict.Checked, result)
		}
		// Beyond what a search reads at a time, and beyond the end.
		if data.Search(249) != 249 || data.Search(250) != -1 {
			t.Errorf("%s: found %d and %d", name, data.Search(249), data.Search(250))
		}
	}
}

func TestTheOracleOrTheResultNoticesASpoiltRun(t *testing.T) {
	for what, spoil := range map[string]func(w *work, data Records){
		"a later version":    func(_ *work, data Records) { data.Write(record{7, 999999}) },
		"a failed operation": func(w *work, _ Records) { w.outcomes[2].failed++ },
		"another read":       func(w *work, _ Records) { w.outcomes[2].own++ },
		"a broken record":    func(_ *work, data Records) { _, _ = data.(*Stream).data.WriteAt([]byte{'x'}, offset(7)) },
	} {
		w, data := performed(t, NewStream)
		spoil(w, data)
		if result := w.result(data); w.check(result).OK && result == expected {
			t.Errorf("%s, and it passes", what)
		}
	}
}

func TestATornRecordIsNone(t *testing.T) {
	line := record{5, 17}.line()
	if _, ok := parse(line); !ok || len(line) != recordBytes {
		t.Errorf("%q is no record", line)
	}
	for i := range line {
		torn := append([]byte(nil), line...)
		torn[i] ^= 1
		if _, ok := parse(torn); ok {
			t.Errorf("%q passes", torn)
		}
	}
}
