package main

import (
	"bytes"
	"reflect"
	"testing"

	"xfer/bench/measure"
)

func TestParse(t *testing.T) {
	o, err := parse([]string{"-n", "3", "-json", "-stdin", "f", "-name", "one", "--", "a", "-x", "--", "b"})
	if err != nil || !o.json || o.plan.Rounds != 3 || len(o.plan.Commands) != 2 {
		t.Fatalf("parse = %+v, %v", o, err)
	}
	one, two := o.plan.Commands[0], o.plan.Commands[1]
	if one.Label != "one" || !reflect.DeepEqual(one.Args, []string{"a", "-x"}) || one.Stdin != "f" {
		t.Errorf("first command = %+v", one)
	}
	if two.Label != "" || !reflect.DeepEqual(two.Args, []string{"b"}) || two.Stdin != "f" {
		t.Errorf("second command = %+v", two)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, args := range [][]string{{}, {"--", "a"}, {"--", "a", "--"}, {"-n", "0", "--", "a", "--", "b"}} {
		if o, err := parse(args); err == nil {
			t.Errorf("parse(%q) took %+v", args, o)
		}
	}
}

func TestReport(t *testing.T) {
	results := []measure.Result{{Label: "x", Median: 1.5, P10: 1, P90: 2, Ratio: 1.25, RatioP10: 1, RatioP90: 3}}
	for _, c := range []struct {
		o    options
		want string
	}{
		{options{}, "x                                1.500 ms (1.000–2.000)   × 1.25 (1.00–3.00)\n"},
		{options{json: true, row: "r"}, `{"row":"r","label":"x","median_ms":1.5,"p10_ms":1,"p90_ms":2,"ratio":1.25,"ratio_p10":1,"ratio_p90":3}` + "\n"},
	} {
		var b bytes.Buffer
		if err := report(&b, results, c.o); err != nil || b.String() != c.want {
			t.Errorf("report(%+v) = %q, %v; want %q", c.o, b.String(), err, c.want)
		}
	}
}
