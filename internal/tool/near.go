package tool

import "strconv"

// Near is the one of names that word was most likely meant to be, or empty
// where none is near. Of several equally near the least counts.
func Near(word string, names []string) string {
	best, least := "", 3
	if len(word) <= 4 {
		least = 2
	}
	for _, name := range names {
		d := distance(word, name)
		if len(word) >= 2 && len(name) > len(word) && name[:len(word)] == word {
			d = 1
		}
		if d < least || d == least && best != "" && name < best {
			best, least = name, d
		}
	}
	return best
}

func didYouMean(word string, names []string, prefix, otherwise string) string {
	if near := Near(word, names); near != "" {
		return "did you mean " + strconv.Quote(prefix+near) + "? " + otherwise
	}
	return otherwise
}

// distance counts the letters to insert, drop, change or swap with their
// neighbour to make b of a.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
