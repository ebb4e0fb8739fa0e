//go:build xfer_pin

package tool

import _ "xfer/internal/fault/pin" // only where faults are to be injected
