/** Answers of the route that lists the memos of a step. */
import { pathOf, type Route } from '../access/routes/table.ts';
import type { Stage } from '../fuzz/stage.ts';
import { type Case, to } from './cases.ts';

const MEMOS: Route = 'GET /v1/runs/{id}/memos';
const NO_RUN = `run_${'a'.repeat(26)}`;

export const MEMO: readonly Case[] = [
  {
    route: MEMOS,
    because: 'a run that there is not',
    status: 404,
    code: 'RUN_NOT_FOUND',
    ask: to(MEMOS, () => ({ id: NO_RUN })),
  },
  invalid('no step', ''),
  ...['revision=0', 'revision=1e3', 'undoes=yes', 'cursor=x'].map((parameter) =>
    invalid(`the parameter ${parameter}`, `?step=say&${parameter}`),
  ),
];

function invalid(because: string, query: string): Case {
  const ask = (stage: Stage) => {
    const [path] = pathOf(MEMOS, { id: stage.named.ended }).split('?');
    return { ...to(MEMOS, () => ({}))(stage), path: `${path}${query}` };
  };
  return { route: MEMOS, because, status: 400, code: 'INVALID_INPUT', ask };
}
