import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ChangeRequest } from '../../packages/console/src/api/client.ts';
import { planned } from '../../packages/console/src/api/client.ts';
import * as run from '../../packages/console/src/pages/run/actions/acts.ts';
import {
  bodyOfDecision,
  CHOICES,
  cliOf,
  UNFILLED,
} from '../../packages/console/src/pages/run/actions/decisions.ts';
import {
  RESOLUTION_CHOICES,
  resolveBody,
  resolveCli,
} from '../../packages/console/src/pages/run/actions/resolutions.ts';
import {
  type PreviewBody,
  requestBody,
  successorCli,
} from '../../packages/console/src/pages/run/successors/request.ts';
import {
  bulkRequestBody as bulkBody,
  curlBulk,
} from '../../packages/console/src/pages/runs/bulk/commands.ts';
import * as schedules from '../../packages/console/src/pages/schedules/acts.ts';
import * as workflows from '../../packages/console/src/pages/workflows/acts.ts';
import { cliText, curlText } from '../../packages/console/src/parts/command-text.ts';
import { readJson } from '../../packages/console/src/parts/json-view/json-text.ts';
import { listening, saying } from './support/stage.ts';

/** Request that a dialog of the console would send, and the command it shows. */
interface Shown {
  readonly planned: ChangeRequest;
  readonly cli: readonly string[];
}
interface Request {
  readonly method: string | undefined;
  readonly target: string;
  readonly body: unknown;
}

const ORIGIN = 'https://runs.test';
const RUN = 'run_01';
const EFFECT = `${'0a'.repeat(32)}.0001`;
/** Text with special characters of a shell or the command line. */
const MEAN = `-it's "odd"; $(touch /tmp/never) \`x\` \\ *\n--json @file`;

const requestOf = ({ method, target, body = {} }: ChangeRequest): Request => ({
  method,
  target,
  body: normal(body),
});
/** The request as it is sent. */
const normal = (body: unknown) => JSON.parse(JSON.stringify(body)) as unknown;

/** Splits the text into words with a shell, for the command in it. */
function wordsOf(text: string, name: 'npx' | 'curl'): string[] {
  const script = `uuidgen() { printf uuid; }\n${name}() { printf '%s\\0' "$@"; }\n${text}`;
  const env = { CAIRN_API_KEY: 'secret', PATH: '' };
  const { stdout, stderr } = spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8', env });
  expect(stderr).toBe('');
  return stdout.split('\0').slice(0, -1);
}

/** Request sent by `npx cairn …`. */
async function sentByCli(words: readonly string[]): Promise<Request> {
  expect(words[0]).toBe('cairn');
  const sent: Request[] = [];
  const world = listening({
    env: { CAIRN_URL: ORIGIN, CAIRN_API_KEY: 'secret' },
    now: Date.parse('2026-02-01T00:00:00.000Z'),
    async fetch(url, { method, body }) {
      const target = url.slice(ORIGIN.length);
      sent.push({ method, target, body: JSON.parse(String(body ?? '{}')) });
      return Response.json({ legalHold: { by: 'c.1', at: RANGE.from, reason: 'r' } });
    },
  });
  const { err } = await saying(['--json', ...words.slice(1)], world);
  expect(err).toBe('');
  expect(sent).toHaveLength(1);
  return sent[0] as Request;
}

function sentByCurl(words: readonly string[]): Request {
  const after = (option: string) => words[words.indexOf(option) + 1] ?? '';
  expect(words).toContain('Idempotency-Key: uuid');
  return {
    method: words.includes('-X') ? after('-X') : 'POST',
    target: (words[1] ?? '').slice(ORIGIN.length),
    body: JSON.parse(after('-d')),
  };
}

const NEW = {
  type: 'chain-10',
  name: MEAN,
  cron: '30 3 * * 1-5',
  timezone: 'Europe/Berlin',
  catchUp: 'all',
  input: { text: MEAN },
} as const;
const OLD = { ...NEW, id: 'daily-report.core', input: {} };
const RANGE = { from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' };

function decided(part: object): Shown {
  const body = bodyOfDecision(
    { ...UNFILLED, note: MEAN, feedback: MEAN, steps: ['draft', 'facts'], ...part },
    'review.1',
  );
  const params = { id: RUN, stepId: 'review[-1 %]' };
  return {
    planned: planned('POST', '/v1/runs/{id}/approvals/{stepId}', { params, body }),
    cli: cliOf(RUN, params.stepId, body),
  };
}

function resolved(outcome: (typeof RESOLUTION_CHOICES)['doubt'][number]['outcome'], result: string): Shown {
  const body = resolveBody({ asked: 'doubt', outcome, result: readJson(result), note: MEAN });
  if (!body) throw new Error('the form is not filled in');
  const params = { id: RUN, effectId: EFFECT };
  return {
    planned: planned('POST', '/v1/runs/{id}/effects/{effectId}/resolve', { params, body }),
    cli: resolveCli(RUN, EFFECT, body),
  };
}

const PATHS = {
  resume: '/v1/runs/{id}/resume',
  replay: '/v1/runs/{id}/replay',
  fork: '/v1/runs/{id}/fork',
} as const;

function succeeded(body: PreviewBody, force = false): Shown {
  return {
    planned: planned('POST', PATHS[body.mode], { params: { id: RUN }, body: requestBody(body, force) }),
    cli: successorCli(RUN, body, force),
  };
}

const SHOWN: readonly (readonly [string, Shown | undefined])[] = [
  ...CHOICES.approval.map(({ decision, verb }) => [verb, decided({ decision })] as const),
  ['Approve without a note', decided({ note: '', decision: 'approve' })],
  ['Record its result', resolved('recorded', '{"id": "-x"}')],
  ['Record a number below nothing', resolved('recorded', '-5')],
  ['Record no result', resolved('recorded', 'null')],
  ...RESOLUTION_CHOICES.doubt.slice(1).map(({ outcome, verb }) => [verb, resolved(outcome, '')] as const),
  ['Cancel', run.cancelRun(RUN, MEAN)],
  ['Cancel without a reason', run.cancelRun(RUN, ' ')],
  ['Hold', run.holdRun(RUN, MEAN)],
  ['Release', run.releaseRun(RUN)],
  ['Repair', run.repairRun(RUN, true)],
  ['Say what a repair would do', run.repairRun(RUN, false)],
  ['Signal', run.signalRun(RUN, { name: 'paid', key: MEAN, data: readJson('-1') })],
  ['Signal by a name like an option', run.signalRun(RUN, { name: '--json', key: '', data: readJson('') })],
  ['Resume', succeeded({ mode: 'resume' })],
  ['Replay from a step', succeeded({ mode: 'replay', from: { step: 'draft' } }, true)],
  ['Fork', succeeded({ mode: 'fork', from: { checkpoint: 4 }, input: { text: MEAN }, planVersion: 3 })],
  ['Start a run', workflows.startRun({ type: 'chain-10', input: { text: MEAN }, threadId: MEAN })],
  ['Start a run of a number', workflows.startRun({ type: 'chain-10', input: -1, threadId: '' })],
  ['Pause a workflow', workflows.pauseWorkflow('chain-10', MEAN)],
  ['Pause a workflow without a reason', workflows.pauseWorkflow('chain-10', '')],
  ['Let a workflow go on', workflows.unpauseWorkflow('chain-10')],
  ['Turn the kill switch on', workflows.setKillSwitch(true)],
  ['Turn the kill switch off', workflows.setKillSwitch(false)],
  ['New schedule', schedules.makeSchedule(NEW)],
  ['New schedule without a name', schedules.makeSchedule({ ...NEW, name: '' })],
  [
    'Change all of a schedule',
    schedules.changeSchedule({ ...OLD, cron: '0 0 * * *', timezone: 'UTC', catchUp: 'skip', name: 'x' }, NEW),
  ],
  ['Change the name of a schedule', schedules.changeSchedule(OLD, { ...OLD, name: 'other' })],
  ['Take the name of a schedule away', schedules.changeSchedule(OLD, { ...OLD, name: '' })],
  ['Pause a schedule', schedules.pauseSchedule(OLD.id, MEAN)],
  ['Resume a schedule', schedules.resumeSchedule(OLD.id)],
  ['Trigger a schedule', schedules.triggerSchedule(OLD.id)],
  ['Delete a schedule', schedules.deleteSchedule(OLD.id)],
  ['Backfill', schedules.backfillSchedule(OLD.id, RANGE)],
  ['Count what a backfill would start', schedules.backfillSchedule(OLD.id, RANGE, true)],
];

describe('as a command', () => {
  test.each(SHOWN)('%s: curl and cairn send the same as the button, through a shell', async (_, shown) => {
    if (!shown) throw new Error('nothing would be sent');
    const request = requestOf(shown.planned);
    expect(sentByCurl(wordsOf(curlText(shown.planned, ORIGIN), 'curl'))).toEqual(request);
    expect(await sentByCli(wordsOf(cliText(shown.cli), 'npx'))).toEqual(request);
  });

  test('a bulk change is the same request as that of the dialog, for any reason text', () => {
    const change = {
      mode: 'cancel',
      runs: [{ id: RUN }, { id: 'run_02' }],
      batch: 'b',
      reason: MEAN,
    } as const;
    const sent = planned('POST', '/v1/runs/bulk', { body: bulkBody(change) });
    expect(sentByCurl(wordsOf(curlBulk(change, ORIGIN), 'curl'))).toEqual(requestOf(sent));
  });

  test('any reason, thread and input is quoted as one word', async () => {
    const text = fc.string({
      unit: fc.constantFrom('-', '=', "'", '"', '\\', '$', '\n', ' ', 'a', '@', 'ü', '🦆'),
    });
    await fc.assert(
      fc.asyncProperty(text, text, fc.json(), async (typed, threadId, json) => {
        const acts: Shown[] = [
          run.cancelRun(RUN, typed),
          workflows.startRun({ type: 'chain-10', input: JSON.parse(json), threadId }),
        ];
        for (const act of acts)
          expect(await sentByCli(['cairn', ...act.cli])).toEqual(requestOf(act.planned));
      }),
      { numRuns: 100 },
    );
  });

  test('a bulk change without runs has no command', () => {
    expect(schedules.changeSchedule(OLD, { ...OLD })).toBeUndefined();
  });
});
