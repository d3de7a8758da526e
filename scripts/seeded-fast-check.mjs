/**
 * Stands in for fast-check in tests (jest.config.js): every run draws the same cases, so that no test is red by chance. `DRAWS=new`
 * draws new ones; a failure says its seed.
 */
import * as fastCheck from '../node_modules/fast-check/lib/fast-check.js';

const SEED = 20_261_123;

if (process.env.DRAWS !== 'new') fastCheck.configureGlobal({ seed: SEED });

export * from '../node_modules/fast-check/lib/fast-check.js';
export { default } from '../node_modules/fast-check/lib/fast-check.js';
