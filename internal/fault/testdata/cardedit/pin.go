//go:build xfer_pin

package main

import _ "xfer/internal/fault/pin"
