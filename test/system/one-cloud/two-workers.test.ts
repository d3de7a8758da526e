/**
 * Like one-cloud.test.ts, over a cloud with two workers. Ordered: the first suite counts the runs of a workflow, the others move the clock, and the
 * last one expects no run that a later scan would touch.
 */
import { describe } from '@jest/globals';
import { setCloud } from '../support.ts';
import { cancels } from './cancel.suite.ts';
import { sameRequests } from './same-request.suite.ts';
import { switches } from './switches.suite.ts';

describe('over one cloud with two workers,', () => {
  const stage = setCloud('sqlite', { workers: 2 });
  sameRequests(stage);
  switches(stage);
  cancels(stage);
});
