/**
 * One cloud in every state that pages show, and one browser, shared by the suites that a test file imports, because
 * starting both takes as much processor time as a suite.
 */
import { beforeAll } from '@jest/globals';
import { makeShowcase, type Showcase } from '../support/showcase.ts';
import { setStage } from '../support/stage.ts';

export const stage = setStage({ fixture: 'showcase.ts' });
/** Has its members after `beforeAll`. */
export const show = {} as Showcase;

beforeAll(async () => {
  Object.assign(show, await makeShowcase(stage.cloud, 'for the office in March'));
});
