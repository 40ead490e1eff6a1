# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# TAP for scripts. Source it, then:
#
#     tap_begin SUITE COUNT
#     tap_check "what is true" command argument...
#     tap_end
#
# A check passes when its command succeeds; what a failing command printed
# follows as diagnostics.

tap_number=0
tap_failed=0

tap_begin()
{
    tap_suite=$1
    tap_planned=$2
    printf '1..%d\n' "$tap_planned"
}

tap_check()
{
    local name=$1 tap_output tap_status=0

    shift
    tap_number=$((tap_number + 1))
    tap_output=$("$@" 2>&1) || tap_status=$?
    if [ "$tap_status" -eq 0 ]; then
        printf 'ok %d - %s: %s\n' "$tap_number" "$tap_suite" "$name"
    else
        tap_failed=$((tap_failed + 1))
        printf 'not ok %d - %s: %s\n' "$tap_number" "$tap_suite" "$name"
        printf '%s\n(status %d)\n' "$tap_output" "$tap_status" | sed 's/^/#   /'
    fi
}

# Passes when the command fails, and says so: for negative controls.
tap_refused()
{
    local tap_output tap_status=0

    tap_output=$("$@" 2>&1) || tap_status=$?
    [ "$tap_status" -ne 0 ] || {
        printf 'accepted, but should have been refused:\n%s\n' "$tap_output"
        return 1
    }
}

tap_end()
{
    [ "$tap_number" -eq "$tap_planned" ] && [ "$tap_failed" -eq 0 ]
}
