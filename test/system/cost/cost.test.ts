/** Billed operations of requests and runs, by the meter of one local cloud. Ordered, because the first suite needs a cloud without earlier requests. */
import { describe } from '@jest/globals';
import { setCloud } from '../support.ts';
import { costOfRequests } from './requests.suite.ts';
import { costOfRuns } from './runs.suite.ts';

describe('by the meter of a cloud,', () => {
  const stage = setCloud('sqlite', { functions: 'metered-functions', env: { DRIVE_QUEUES: '1' } });
  costOfRequests(stage);
  costOfRuns(stage);
});
