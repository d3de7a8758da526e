/**
 * `GET /v1/runs/stream`: the newest matching runs and their changes, as server-sent events. `event: run` has a run as
 * lists show it, `event: gone` the id of a run that left the list, and `event: ready` follows the initial state. After a
 * reconnect the list is sent again, and at `ready` the reader drops the runs that were not sent.
 */
import { type FollowedList, followRunList } from '../../../operations/follow/follow-run-list.ts';
import type { ReadHandler } from '../../route.ts';
import { listedBlocked } from '../../views/blocked.ts';
import { runSummary } from '../../views/run.ts';
import { runFilter } from '../read-runs.ts';
import { answerStream, frameText, QUIET } from './server-sent.ts';

export const streamRuns: ReadHandler<'GET /v1/runs/stream'> = (call) => {
  const { deps, caller, query } = call;
  const { filter, vocabulary } = runFilter(caller, query);
  const { limit } = query;
  const { clock } = deps;
  const frame = (one: FollowedList): string => {
    switch (one.kind) {
      case 'quiet':
        return QUIET;
      case 'ready':
        return frameText({ event: 'ready', data: {} });
      case 'gone':
        return frameText({ event: 'gone', data: { id: one.runId } });
      case 'run':
        return frameText({
          event: 'run',
          data: { ...runSummary(one.run, vocabulary), ...listedBlocked(deps.registry, one.run, clock.now()) },
        });
    }
  };
  return answerStream(call, {
    onlyNow: !query.follow,
    follow: (bounds) => followRunList({ watch: deps.listWatch, clock }, { filter, limit, ...bounds }),
    frame,
    about: { tenantId: caller.tenantId },
  });
};
