#!/bin/sh
# Tests with new examples, round after round, for so many minutes: tests/long-run.sh MINUTES COMMAND...
# Each round has a seed of its own, which is printed; examples that failed are stored in .hypothesis
# and tried first the next time.
set -u
minutes=$1
shift
end=$(($(date +%s) + 60 * minutes))
round=0
failed=0
while [ "$round" -eq 0 ] || [ "$(date +%s)" -lt "$end" ]; do
  round=$((round + 1))
  seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
  echo "Round $round, seed $seed"
  # The first round has the slow tests too; after it only those that draw examples say anything new.
  which=$([ "$round" -eq 1 ] && echo "$FIRST" || echo "$AGAIN")
  if ! HYPOTHESIS_PROFILE=long "$@" --hypothesis-seed="$seed" -m "$which"; then
    failed=$((failed + 1))
    echo "Failed in round $round: HYPOTHESIS_PROFILE=long $* --hypothesis-seed=$seed -m '$which'"
  fi
done
echo "$round rounds, $failed of them failed"
[ "$failed" -eq 0 ]
