// Order of the test files: Jest begins with those that took longest the last time. Without earlier times, as in a fresh clone, it
// sorts by file size, but some small files take long and would run alone at the end. Files that mostly wait for a browser or for
// processes are spread over the whole run: side by side they leave a core idle, beside computing files they cost little.
const { join } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

const test = join(__dirname, '../../test');
const under = (...paths) => {
  const starts = paths.map((path) => join(test, path));
  return ({ path }) => starts.some((start) => path.startsWith(start));
};
const isLong = under(
  'sweep/',
  'system/',
  'deploy/',
  'console/',
  'store/pages/',
  'local/firestore/serializability',
  'platform/body-guard/',
  'local/start/',
);
const waits = under('console/', 'local/host/', 'local/start/', 'local/dev/');
/** Estimated duration of a file that has never run. */
const ASSUMED_MS = 1_000;

class SpreadLongFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const isMeasured = sorted.some(({ duration }) => duration !== undefined);
    const longFirst = isMeasured
      ? sorted
      : [...sorted.filter(isLong), ...sorted.filter((one) => !isLong(one))];
    return spread(
      longFirst.filter(waits),
      longFirst.filter((one) => !waits(one)),
    );
  }
}

/** Merges both lists in order, so that at each position about the same share of the time of both has begun. */
function spread(some, others) {
  const total = { some: timeOf(some), others: timeOf(others) };
  const begun = { some: 0, others: 0 };
  const rest = { some: [...some], others: [...others] };
  return [...some, ...others].map(() => {
    const isBehind = begun.some * total.others <= begun.others * total.some;
    const from = rest.others.length === 0 || (isBehind && rest.some.length > 0) ? 'some' : 'others';
    const next = rest[from].shift();
    begun[from] += timeOf([next]);
    return next;
  });
}

const timeOf = (tests) => tests.reduce((sum, { duration = ASSUMED_MS }) => sum + duration, 0);

module.exports = SpreadLongFirst;
