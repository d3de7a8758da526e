import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ERROR_CODES, type ErrorCode } from '../../../packages/cairn/src/core/errors.ts';
import { changed } from '../../support/image.ts';
import { document } from '../openapi/checked.ts';
import { type Drawn, ROUTES, requests } from './requests.ts';
import { OTHERS_SECRET, Stage, TENANT } from './stage.ts';

/** Takes some seconds. `FUZZ_INPUTS=20000` before the command tests more. */
const INPUTS = Number(process.env.FUZZ_INPUTS ?? 1_200);
/** Long enough for a busy machine. */
const TIMEOUT_MS = 240_000 + INPUTS * 30;
/** Requests to one installation, one after the other, so that each meets the state that the others left. */
const IN_A_ROW = 40;

interface Answered {
  readonly status: number;
  readonly code: ErrorCode | undefined;
  readonly text: string;
  readonly headers: Headers;
}

async function send(stage: Stage, { path, method, as, headers, body }: Drawn): Promise<Answered> {
  const authorization = stage.credentials[as]?.value;
  const answer = await stage.api.request(path, {
    method,
    headers: { ...headers, ...(authorization === undefined ? {} : { authorization }) },
    ...(body === undefined ? {} : { body: body as string }),
  });
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream) await answer.body?.cancel();
  const text = isStream ? '' : await answer.text();
  const isProblem = answer.status >= 400 && method !== 'HEAD';
  const code = isProblem ? (JSON.parse(text) as { code: ErrorCode }).code : undefined;
  return { status: answer.status, code, text, headers: answer.headers };
}

/** Asserts the common form of refusals. */
function assertProblem({ status, text, headers }: Answered, method: string): void {
  expect(headers.get('content-type')).toBe('application/problem+json');
  if (method === 'HEAD') return;
  const problem = JSON.parse(text) as { code: ErrorCode };
  const known = ERROR_CODES[problem.code];
  expect(problem).toMatchObject({
    type: `urn:cairn:problem:${problem.code}`,
    status,
    title: known.title,
    detail: expect.stringMatching(/./),
    help: expect.stringMatching(/./),
  });
  expect(known.httpStatus).toBe(status);
  const { field, stepId, help } = JSON.parse(text) as { field?: string; stepId?: string; help: string };
  // No field is named that could be corrected.
  if (field === undefined && stepId === undefined) expect(help).not.toMatch(/named field/);
  expect(text).not.toMatch(/\n\s+at |node_modules|functions\/src/);
  if (status === 401) expect(headers.get('www-authenticate')).toBe('Bearer');
  if (status === 405) expect(headers.get('allow')).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  if (status === 429) expect(headers.get('retry-after')).toMatch(/^\d+$/);
}

/** Asserts that the document has the status, and the code among its problems. */
function assertDescribed({ route: { method, template } }: Drawn, { status, code }: Answered): void {
  const operation = document.paths[template]?.[method.toLowerCase()];
  const responses = operation?.responses as Record<string, { description: string }>;
  expect([template, status, Object.keys(responses)]).toEqual([
    template,
    status,
    expect.arrayContaining([String(status)]),
  ]);
  if (code !== undefined) expect(responses[status]?.description.split('; ').join()).toContain(`${code}: `);
}

/**
 * Refusals that depend on the state and not only on the request: those with status 409 and 410, and these. They
 * are stored under the key of the request like other answers, so that a repetition gets the same.
 */
const OF_STATE: ReadonlySet<string> = new Set([
  // No question of the step is open, or the approval does not wait for the named steps.
  'POST /v1/runs/{id}/approvals/{stepId} NOT_FOUND',
  'POST /v1/runs/{id}/approvals/{stepId} INVALID_INPUT',
  // The waiting step refuses the data, or no step waits and the data is too large for the buffer.
  'POST /v1/runs/{id}/signals INVALID_INPUT',
  'POST /v1/runs/{id}/signals PAYLOAD_TOO_LARGE',
  // The range has too many slots, or the workflow no longer accepts the schedule's input.
  'POST /v1/schedules/{id}/backfill INVALID_INPUT',
  // The cron expression, time zone or input does not fit the unchanged members of the schedule.
  'PATCH /v1/schedules/{id} INVALID_INPUT',
  'POST /v1/clients/{id}/rotate FORBIDDEN',
  // The run did not make the effect, or the answer does not fit it.
  'POST /v1/runs/{id}/effects/{effectId}/resolve NOT_FOUND',
  'POST /v1/runs/{id}/effects/{effectId}/resolve INVALID_INPUT',
]);

/**
 * Returns true if a request may have written a document: not if it was refused, except the response kept under its key.
 */
function mayWrite(stage: Stage, { as, key, method, route }: Drawn, { status, code }: Answered) {
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return () => false;
  if (status < 400) return () => true;
  const may = mayKeep(stage, { as, key, method, route }, { status, code });
  // The first request for a deployed version stores its plan, even if the request is refused for another reason.
  return (place: string) => place.startsWith('plans/') || may(place);
}

/** The answer to a request with a key may be stored if it depends on the state. */
function mayKeep(
  stage: Stage,
  { as, key, method, route }: Pick<Drawn, 'as' | 'key' | 'method' | 'route'>,
  { status, code }: Pick<Answered, 'status' | 'code'>,
) {
  const principal = stage.credentials[as]?.principal;
  const isOfState = [409, 410].includes(status) || OF_STATE.has(`${method} ${route.template} ${code}`);
  if (key === undefined || principal === undefined || !isOfState) return () => false;
  const name = `api:${principal}:${key}`;
  const response = stage.installation.world.db.records.get(name)?.record.response;
  return (place: string) =>
    place === `records/${name}` && (response as { status: number } | undefined)?.status === status;
}

/** Describes a violation in a response; undefined: none. @param places written documents */
function complaint(stage: Stage, drawn: Drawn, answered: Answered, places: readonly string[]): unknown {
  try {
    expect(answered.status).toBeLessThan(500);
    expect(stage.errors()).toEqual([]);
    if (answered.status >= 400) assertProblem(answered, drawn.method);
    if (drawn.isRoute) assertDescribed(drawn, answered);
    const may = mayWrite(stage, drawn, answered);
    expect(places.filter((place) => !may(place))).toEqual([]);
    if (stage.credentials[drawn.as]?.tenantId === TENANT) expect(answered.text).not.toContain(OTHERS_SECRET);
    return undefined;
  } catch (error) {
    return error;
  }
}

test(
  `of ${INPUTS} inputs none is answered 5xx, and no refused one leaves anything behind`,
  async () => {
    const first = await Stage.make();
    const seen = new Set<string>();
    const answers = new Set<number>();
    /** The first violation of each kind, to report all at once. */
    const complaints = new Map<string, string>();
    const row = fc.array(requests(first), { minLength: IN_A_ROW, maxLength: IN_A_ROW });
    await fc.assert(
      fc.asyncProperty(row, async (requested) => {
        const stage = await Stage.make();
        let before = stage.image();
        for (const drawn of requested) {
          const answered = await send(stage, drawn);
          const after = stage.image();
          const { method, route, as, path, headers, body } = drawn;
          const { status, code, text } = answered;
          const error = complaint(stage, drawn, answered, changed(before, after));
          before = after;
          const kind = `${route.method} ${route.template} ${status} ${code}`;
          if (error !== undefined && !complaints.has(kind))
            complaints.set(
              kind,
              `${kind}: ${JSON.stringify({ method, path, as, headers, body, text }).slice(0, 1_500)}\n${error}`,
            );
          if (error !== undefined) continue;
          answers.add(status);
          if (drawn.isRoute && status < 300) seen.add(kind.split(' ', 2).join(' '));
        }
      }),
      { numRuns: Math.ceil(INPUTS / IN_A_ROW) },
    );
    expect([...complaints.values()].join('\n\n')).toBe('');
    // Most requests pass all checks of the routes, and a few cause much work.
    const missed = ROUTES.map(({ method, template }) => `${method} ${template}`).filter(
      (one) => !seen.has(one),
    );
    expect(missed.length).toBeLessThan(ROUTES.length / (INPUTS < 20_000 ? 4 : 10));
    const rare = INPUTS < 20_000 ? [] : [405, 413, 414, 415, 431];
    expect([...answers]).toEqual(expect.arrayContaining([200, 201, 400, 401, 403, 404, 409, 422, ...rare]));
  },
  TIMEOUT_MS,
);

test('the generated installation is the same each time', async () => {
  const [one, other] = [await Stage.make(), await Stage.make()];
  expect(one.ids).toEqual(other.ids);
});
