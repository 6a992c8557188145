package harness

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Parameter is an integer parameter, a real one, or one that takes one of some words.
type Parameter struct {
	Name        string
	Default     int64
	Least, Most int64
	Words       []string // the first is the default
	Real        *Real
}

// Real is what a parameter has instead of Default, Least and Most if it is a real number.
type Real struct {
	Default, Least, Most float64
}

func (p Parameter) parse(text string) (interface{}, error) {
	if p.Words != nil {
		for _, word := range p.Words {
			if word == text {
				return text, nil
			}
		}
		return nil, fmt.Errorf("--%s=%s: expected %s", p.Name, text, strings.Join(p.Words, "|"))
	}
	if p.Real != nil {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || !(value >= p.Real.Least && value <= p.Real.Most) {
			return nil, fmt.Errorf("--%s=%s: expected %v … %v", p.Name, text, p.Real.Least, p.Real.Most)
		}
		return value, nil
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < p.Least || value > p.Most {
		return nil, fmt.Errorf("--%s=%s: expected %d … %d", p.Name, text, p.Least, p.Most)
	}
	return value, nil
}

// Arguments is a parsed command line.
type Arguments struct {
	Model  string
	Values map[string]interface{}
}

// Integer is the value of an integer parameter.
func (a Arguments) Integer(name string) int64 {
	value, _ := a.Values[name].(int64)
	return value
}

// Real is the value of a real parameter.
func (a Arguments) Real(name string) float64 {
	value, _ := a.Values[name].(float64)
	return value
}

// Sample is an empty sample of the run that the command line asks for.
func (a Arguments) Sample(workload string) Sample {
	return Sample{Workload: workload, Model: a.Model, Params: a.Values}
}

// Parse reads --model=MODEL and --NAME=VALUE. Its errors are UsageErrors and name what is valid.
func Parse(arguments []string, models []string, declared []Parameter) (Arguments, error) {
	parsed, err := parse(arguments, models, declared)
	if err != nil {
		err = UsageError{err}
	}
	return parsed, err
}

func parse(arguments []string, models []string, declared []Parameter) (Arguments, error) {
	parsed := Arguments{Values: map[string]interface{}{}}
	known := map[string]Parameter{}
	names := []string{"--model"}
	for _, p := range declared {
		known[p.Name] = p
		names = append(names, "--"+p.Name)
		switch {
		case p.Words != nil:
			parsed.Values[p.Name] = p.Words[0]
		case p.Real != nil:
			parsed.Values[p.Name] = p.Real.Default
		default:
			parsed.Values[p.Name] = p.Default
		}
	}
	sort.Strings(names)
	for _, argument := range arguments {
		name, value, found := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
		if !found || !strings.HasPrefix(argument, "--") {
			return parsed, fmt.Errorf("`%s`: expected --NAME=VALUE", argument)
		}
		if name == "model" {
			parsed.Model = value
			continue
		}
		p, ok := known[name]
		if !ok {
			return parsed, fmt.Errorf("unknown parameter --%s; there are: %s", name, strings.Join(names, " "))
		}
		checked, err := p.parse(value)
		if err != nil {
			return parsed, err
		}
		parsed.Values[name] = checked
	}
	for _, model := range models {
		if model == parsed.Model {
			return parsed, nil
		}
	}
	return parsed, fmt.Errorf("unknown model `%s`; there are: %s", parsed.Model, strings.Join(models, " "))
}
