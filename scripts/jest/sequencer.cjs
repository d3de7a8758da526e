// Order of the test files: Jest begins with those that took longest the last time. Where it has never run, as in a fresh clone, it takes the
// size of a file for its time; these take long whatever their size, and the last of them would run alone at the end.
const { join } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

const root = join(__dirname, '../..');
const LONG = [
  'sweep/',
  'system/',
  'deploy/',
  'console/',
  'store/pages/',
  'local/firestore/serializability',
  'platform/body-guard/',
  'local/start/',
].map((path) => join(root, 'test', path));

const isLong = ({ path }) => LONG.some((start) => path.startsWith(start));

class LongFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}

module.exports = LongFirst;
