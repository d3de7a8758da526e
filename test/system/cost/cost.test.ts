/** Meter of one local cloud: what requests and runs are billed. In this order: the first suite counts the requests of a cloud that has had none. */
import { describe } from '@jest/globals';
import { setCloud } from '../support.ts';
import { costOfRequests } from './requests.suite.ts';
import { costOfRuns } from './runs.suite.ts';

describe('by the meter of a cloud,', () => {
  const stage = setCloud('sqlite', { functions: 'metered-functions', env: { DRIVE_QUEUES: '1' } });
  costOfRequests(stage);
  costOfRuns(stage);
});
