/** `GET /v1/runs/counts`: how many runs of the caller's tenant there are of each status. */
import type { Read } from '../../route.ts';
import { runFilter } from '../read-runs.ts';

export const readRunCounts: Read<'GET', '/v1/runs/counts'> = ({ instance, caller, query }) =>
  instance.runCounts.count(runFilter(caller, query).filter);
