package main

import (
	"bufio"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"github.com/spf13/cast"
)

// functionSets holds the two sets by name; "" is sprig.
var functionSets = map[string]template.FuncMap{
	"":        sprigSet(),
	"sprig":   sprigSet(),
	"tenants": tenantSet(),
}

// sprigSet is sprig with the tenant operator's four on top. Two of sprig's answer in the order of
// Go's map iteration, which is random: here they answer in key order, so that there is an answer to compare.
// What reads the process or the network is not there at all.
func sprigSet() template.FuncMap {
	set := sprig.TxtFuncMap()
	set["toHost"] = toHost
	set["trunc63"] = trunc63
	set["sha1sum"] = sha1sum
	set["fromJson"] = fromJson
	set["keys"] = keys
	set["values"] = values
	for _, name := range []string{"env", "expandenv", "getHostByName"} {
		delete(set, name)
	}
	return set
}

// tenantSet adds the typed three. Their types travel beside the text, so to a template they are plain values.
func tenantSet() template.FuncMap {
	set := sprigSet()
	set["int"] = typedInt
	set["float"] = cast.ToFloat64
	set["bool"] = typedBool
	return set
}

func toHost(raw string) string {
	if parsed, err := url.Parse(raw); err == nil && parsed.Host != "" {
		return parsed.Hostname()
	}
	before, _, _ := strings.Cut(raw, ":")
	return before
}

func trunc63(s string) string { return s[:min(len(s), 63)] }

func sha1sum(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

func fromJson(s string) interface{} {
	var value interface{}
	if json.Unmarshal([]byte(s), &value) != nil {
		return map[string]interface{}{}
	}
	return value
}

func sortedKeys(dict map[string]interface{}) []string {
	names := make([]string, 0, len(dict))
	for name := range dict {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func keys(dicts ...map[string]interface{}) []string {
	all := []string{}
	for _, dict := range dicts {
		// One by one, as sprig does: the spare room of the result shows in `slice`.
		for _, name := range sortedKeys(dict) {
			all = append(all, name)
		}
	}
	return all
}

func values(dict map[string]interface{}) []interface{} {
	all := []interface{}{}
	for _, name := range sortedKeys(dict) {
		all = append(all, dict[name])
	}
	return all
}

func typedInt(v interface{}) int {
	if text, ok := v.(string); ok {
		if f, err := cast.ToFloat64E(strings.TrimSpace(text)); err == nil {
			return int(f)
		}
		return 0
	}
	return cast.ToInt(v)
}

func typedBool(v interface{}) bool {
	switch b := v.(type) {
	case bool:
		return b
	case string:
		switch strings.ToLower(strings.TrimSpace(b)) {
		case "true", "1", "yes", "on", "t", "y":
			return true
		}
		return false
	}
	return cast.ToFloat64(v) != 0
}

// names lists the functions of the sprig set with their Go signatures, one a line: the case tables are checked
// against it, so that no function goes without a case.
func names(out *bufio.Writer) error {
	set := sprigSet()
	sorted := make([]string, 0, len(set))
	for name := range set {
		sorted = append(sorted, name)
	}
	sort.Strings(sorted)
	for _, name := range sorted {
		if _, err := fmt.Fprintf(out, "%s %T\n", name, set[name]); err != nil {
			return err
		}
	}
	return nil
}
