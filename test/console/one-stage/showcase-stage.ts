/**
 * One cloud in every state that pages show, and one browser, for suites that a test file imports: to make both takes as
 * much processor time as the tests of a suite.
 */
import { beforeAll } from '@jest/globals';
import { makeShowcase, type Showcase } from '../support/showcase.ts';
import { setStage } from '../support/stage.ts';

export const stage = setStage({ fixture: 'showcase.ts' });
/** Has its members from `beforeAll` on. */
export const show = {} as Showcase;

beforeAll(async () => {
  Object.assign(show, await makeShowcase(stage.cloud, 'for the office in March'));
});
