/** Installations in memory, each in the state that a command of the documents requires. */
import { z } from 'zod';
import { DEFAULT_RETRY } from '../../../packages/cairn/src/core/decisions/retry.ts';
import { Bindings } from '../../../packages/cairn/src/engine/define/bindings.ts';
import { defineBinding, defineCapability } from '../../../packages/cairn/src/engine/define/capability.ts';
import { defineWorkflow } from '../../../packages/cairn/src/engine/define/workflow.ts';
import { ExternalEffects } from '../../../packages/cairn/src/engine/external/external-effects.ts';
import { Stage } from '../../cli/support/stage.ts';

export interface Scene {
  readonly stage: Stage;
  /** Replacements for texts of the document. */
  readonly filled: Readonly<Record<string, string>>;
}

/** Workflows that the documents start or query; each run ends at once. */
const TYPES = [
  'order',
  'deploy',
  'review-pull-request',
  'invite-team',
  'http-call',
  'daily-report',
  'research',
];
/** Offset after which the times in the documents have passed. */
const LATER_MS = 60 * 86_400_000;

const instant = (type: string, planVersion = 1) =>
  defineWorkflow({
    type,
    planVersion,
    input: z.unknown(),
    steps: (step) => ({ done: step('charge', ({ log }) => log('done')) }),
  });

const asking = (stepId: string) =>
  defineWorkflow({
    type: `asks-${stepId}`,
    planVersion: 1,
    input: z.unknown(),
    steps: (step) => ({ agreed: step.approval(stepId, { ask: () => 'Agree?' }) }),
  });

const askingForData = defineWorkflow({
  type: 'asks-data',
  planVersion: 1,
  input: z.unknown(),
  steps: (step) => ({ agreed: step.approval('agree', { ask: () => 'Agree?', data: z.object({}) }) }),
});

const failing = defineWorkflow({
  type: 'fails',
  planVersion: 1,
  input: z.unknown(),
  steps: (step) => ({
    done: step('charge', { retry: { maxAttempts: 1 } }, () => {
      throw new Error('the card is refused');
    }),
  }),
});

const overspending = defineWorkflow({
  type: 'overspends',
  planVersion: 1,
  input: z.unknown(),
  budget: { usd: 1, operations: 1_000 },
  steps(step) {
    const first = step('first', ({ usage }) => usage({ usd: 2 }));
    return { second: step('second', { needs: { first } }, () => 1) };
  },
});

const charge = defineCapability({
  id: 'shop.charge',
  sideEffects: 'external_action',
  idempotency: 'not_supported',
  request: z.object({}),
  response: z.object({}).loose(),
});
const hangingUp = defineBinding(charge, {
  id: 'shop',
  call: () => Promise.reject(new Error('socket hang up')),
});

const doubtful = defineWorkflow({
  type: 'doubtful',
  planVersion: 1,
  input: z.unknown(),
  steps: (step) => ({ paid: step('pay', { uses: [charge] }, ({ perform }) => perform(charge, {})) }),
});

function newStage(): Stage {
  const workflows = [
    ...TYPES.map((type) => instant(type)),
    asking('agree'),
    asking('sign-off'),
    askingForData,
  ];
  const stage = new Stage([...workflows, failing, overspending, doubtful], [hangingUp]);
  stage.installation.world.clock.jump(LATER_MS);
  return stage;
}

/** Starts a run and executes it until it ends or waits. */
async function run(stage: Stage, type: string): Promise<string> {
  const { out } = await stage.cairn(['runs', 'start', type]);
  await stage.drive();
  // Makes the next run the newest.
  stage.installation.world.clock.jump(1_000);
  return out.trim();
}

const ofRun = (id: string) => ({
  $RUN: id,
  RUN: id,
  run_lwdzb74sypomf6mzyvp65p6n44: id,
  run_lwdzb7: id.slice(0, 10),
  lwdzb7: id.slice(4, 10),
  '/runs/ID/': `/runs/${id}/`,
  $STEP: 'charge',
  STEP: 'charge',
});

const running = (type: string) => async (): Promise<Scene> => {
  const stage = newStage();
  return { stage, filled: ofRun(await run(stage, type)) };
};

async function inDoubt(): Promise<Scene> {
  const { stage, filled } = await running('doubtful')();
  const { items } = await stage.answer<{ items: readonly { effectId: string }[] }>([
    'effects',
    'list',
    'last',
  ]);
  const id = items[0]?.effectId ?? '';
  return { stage, filled: { ...filled, $EFFECT: id, EFFECT: id } };
}

/** An effect of a function without a run, which is in doubt. */
async function withoutRun(): Promise<Scene> {
  const stage = newStage();
  const { world } = stage.installation;
  const effects = new ExternalEffects(
    {
      ledger: { ...world.deps, effects: world.effects },
      runtime: world.deps.runtime,
      bindings: new Bindings([hangingUp]),
    },
    { callTimeoutMs: 1_000, retry: DEFAULT_RETRY },
  );
  const { signal } = new AbortController();
  const effectRequest = { tenantId: 't1', key: 'charge-7', capability: charge as never, request: {}, signal };
  await effects.once(effectRequest).catch(() => {});
  const owner = 'external:t1:charge-7';
  const { items } = await stage.answer<{ items: readonly { effectId: string }[] }>([
    'effects',
    'list',
    owner,
  ]);
  return {
    stage,
    filled: {
      'external:shop:charge-7': owner,
      'external:TENANT:KEY': owner,
      '9f3c': items[0]?.effectId ?? '',
    },
  };
}

async function twoRuns(): Promise<Scene> {
  const stage = newStage();
  const first = await run(stage, 'fails');
  const second = await run(stage, 'fails');
  return { stage, filled: { lwdzb7: first.slice(4, 10), '4xsyom': second.slice(4, 10) } };
}

async function suspended(): Promise<Scene> {
  const scene = await running('asks-agree')();
  await scene.stage.cairn(['runs', 'suspend', 'last']);
  return scene;
}

async function withNewVersion(): Promise<Scene> {
  const scene = await running('order')();
  scene.stage.deploy([instant('order'), instant('order', 2)]);
  return scene;
}

async function erased(): Promise<Scene> {
  const scene = await running('order')();
  const { id } = await scene.stage.answer<{ id: string }>([
    'runs',
    'erase',
    scene.filled.RUN ?? '',
    '--confirm',
    scene.filled.RUN ?? '',
  ]);
  return { ...scene, filled: { ERASURE: id } };
}

async function scheduled(): Promise<Scene> {
  const stage = newStage();
  const { id } = await stage.answer<{ id: string }>(['schedules', 'create', 'order', '0 6 * * *']);
  return { stage, filled: { $ID: id } };
}

async function withKey(): Promise<Scene> {
  const stage = newStage();
  await stage.cairn(['runs', 'start', 'order', '--key', 'once']);
  return { stage, filled: { KEY: 'once' } };
}

async function ofType(): Promise<Scene> {
  return { stage: newStage(), filled: { TYPE: 'order' } };
}

async function withAnswer(): Promise<Scene> {
  const { stage, filled } = await running('asks-data')();
  return { stage, filled: { ...filled, JSON: '{}' } };
}

async function resumable(command: string): Promise<Scene> {
  return command.includes('/schedules/') ? scheduled() : running('fails')();
}

/** The first match applies; other commands get a completed run. */
const SCENES: readonly (readonly [command: RegExp, scene: (command: string) => Promise<Scene>])[] = [
  [/--raise/, running('overspends')],
  [/--data JSON/, withAnswer],
  [/pause TYPE/, ofType],
  [/idempotency KEY/, withKey],
  [/external:/, withoutRun],
  [/bulk .*--run /, twoRuns],
  [/effects resolve|\$EFFECT/, inDoubt],
  [/sign-off/, running('asks-sign-off')],
  [/runs (?:approve|reject|halt|suspend|cancel)|approvals\/agree|\/cancel |\/signals/, running('asks-agree')],
  [/runs continue/, suspended],
  [/runs resume|\/resume|\/preview/, resumable],
  [/fork/, withNewVersion],
  [/erasures show/, erased],
  [/\/schedules\/|\$ID/, scheduled],
];

export function sceneOf(command: string): Promise<Scene> {
  const found = SCENES.find(([pattern]) => pattern.test(command));
  return found ? found[1](command) : running('order')();
}

/** Replaces texts of the command, the longest first, because `RUN` is part of `$RUN`. */
export function filledIn(command: string, { filled }: Scene): string {
  return Object.entries(filled)
    .toSorted(([a], [b]) => b.length - a.length)
    .reduce((text, [shown, real]) => text.replaceAll(shown, real), command);
}
