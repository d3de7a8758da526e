/**
 * Flags of Node for the processes of the local cloud. V8 compiles a function with Maglev after 400 calls, and waits for 500 more whenever it
 * has seen another kind of value: most of the code of a run is called once or ten times a run, so a cloud would interpret its first hundreds
 * of runs. Known to V8 of Node 22 and 24; both are thresholds, without a meaning for what the code does.
 */
export const NODE_FLAGS: readonly string[] = [
  '--disable-warning=ExperimentalWarning',
  '--invocation-count-for-maglev=40',
  '--minimum-invocations-after-ic-update=40',
];
