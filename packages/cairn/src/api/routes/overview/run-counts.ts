/** `GET /v1/runs/counts`: how many runs of the caller's tenant there are of each status. */
import { CountedRuns } from '../../../operations/search/run-counts.ts';
import type { Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { readQuery } from '../../query.ts';
import { runFilter } from '../read-runs.ts';

export class RunCountsRoute {
  readonly #counted: CountedRuns;

  constructor({ finder, start }: ApiDeps) {
    this.#counted = new CountedRuns(finder, start.clock);
  }

  async answer(caller: Caller, url: string): Promise<Response> {
    const { filter } = runFilter(caller, readQuery(url, ['type', 'repoId', 'threadId']));
    return Response.json(await this.#counted.count(filter));
  }
}
