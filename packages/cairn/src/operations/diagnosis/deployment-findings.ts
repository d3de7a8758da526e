/** Findings about the deployment: secrets, parameters, switches, workflow versions. Pure. */
import { firstDifferenceText, type PlanChange } from '../../engine/plans/known-plans.ts';
import type { SeenSecret, WrongParameter } from '../../ports/diagnosis/setup.ts';
import type { RuntimeConfig } from '../../ports/runtime-config.ts';
import { counted, type DiagnosisFinding, note, span, well, wrong } from './finding.ts';

export function ofSecrets(secrets: readonly SeenSecret[]): DiagnosisFinding[] {
  const of = (state: SeenSecret['state']) => secrets.filter((secret) => secret.state === state);
  const named = (some: readonly SeenSecret[]) =>
    some.map(({ name, functions }) => `${name} (${functions.join(', ')})`).join(', ');
  const empty = of('empty').map(({ name, functions }) =>
    wrong('SECRET_EMPTY', `the secret ${name} is empty: ${functions.join(', ')} cannot work`, {
      help: `firebase functions:secrets:set ${name}, then deploy again.`,
      evidence: { name },
    }),
  );
  const none = of('none').map(({ name }) =>
    note('SECRET_NONE', `the secret ${name} is set to none`, { evidence: { name } }),
  );
  const set = of('set');
  const elsewhere = of('elsewhere');
  return [
    ...empty,
    ...none,
    ...(set.length === 0 ? [] : [well('SECRETS', `secrets with a value: ${named(set)}`)]),
    ...(elsewhere.length === 0
      ? []
      : [
          note('SECRETS_ELSEWHERE', `secrets not bound to this function: ${named(elsewhere)}`, {
            help: 'A deployment fails if one of them has no value. To find it: gcloud secrets versions list NAME',
            evidence: { names: elsewhere.map(({ name }) => name) },
          }),
        ]),
  ];
}

export function ofParameters(parameters: readonly WrongParameter[]): DiagnosisFinding[] {
  return parameters.map(({ name, why }) =>
    wrong('PARAMETER_INVALID', `${name} is invalid: ${why}`, {
      help: 'Correct functions/.env (or .env.PROJECT) and deploy again. Until then the endpoint answers 500.',
      evidence: { name },
    }),
  );
}

export function ofSwitches(config: RuntimeConfig, now: number): DiagnosisFinding[] {
  return [
    ...ofStops(config, now),
    ...[...config.paused].map(([type, { since, reason }]) =>
      note('PAUSED', `${type} is paused for ${span(now - since)}${reason ? `: ${reason}` : ''}`, {
        help: `cairn unpause ${type}`,
        evidence: { type },
      }),
    ),
  ];
}

function ofStops({ killSwitch, restore }: RuntimeConfig, now: number): DiagnosisFinding[] {
  const stops = [
    ...(killSwitch
      ? [wrong('KILL_SWITCH', 'the kill switch is on', { help: 'cairn unpause --everything' })]
      : []),
    ...(restore?.isPaused
      ? [
          wrong(
            'RESTORE_HELD',
            `the database was restored ${span(now - restore.at)} ago, and no run is dispatched`,
            { help: 'cairn restore release' },
          ),
        ]
      : []),
  ];
  return stops.length > 0 ? stops : [well('RUNNING', 'no kill switch, and not paused after a restore')];
}

/** Runs that have not ended, of all tenants, on one version of a workflow. */
export interface VersionInUse {
  readonly type: string;
  readonly planVersion: number;
  readonly runs: number;
  readonly isDeployed: boolean;
  readonly isNewest: boolean;
}

/** Versions whose deployed definition differs from the recorded one. @param nextOf the next free version of a type */
export function ofPlans(
  changes: readonly PlanChange[],
  nextOf: (type: string) => number,
): DiagnosisFinding[] {
  return changes.map(({ type, planVersion, differences }) => {
    const nextVersion = nextOf(type);
    return wrong(
      'PLAN_CHANGED',
      `the definition of ${type} v${planVersion} changed${firstDifferenceText(differences)}`,
      {
        help: `Deploy it as v${nextVersion}, with v${planVersion} unchanged beside it. See docs/operations.md.`,
        evidence: { type, planVersion, nextVersion, differences: differences.map(({ what }) => what) },
      },
    );
  });
}

/** @param isCut not all tenants, or not all versions, were checked */
export function ofVersions(versions: readonly VersionInUse[], isCut: boolean): DiagnosisFinding[] {
  const found = versions.flatMap(({ type, planVersion, runs, isDeployed, isNewest }): DiagnosisFinding[] => {
    const what = `${counted(runs, 'live run', isCut)} ${runs === 1 ? 'is' : 'are'} on ${type} v${planVersion}`;
    const evidence = { type, planVersion, runs };
    if (!isDeployed)
      return [
        wrong('PLAN_VERSION_UNAVAILABLE', `${what}, which is not deployed`, {
          help: 'Deploy that version again beside the newest. See docs/operations.md.',
          evidence,
        }),
      ];
    return isNewest ? [] : [note('OLD_VERSION_IN_USE', `${what}: keep it deployed`, { evidence })];
  });
  const live = versions.reduce((sum, { runs }) => sum + runs, 0);
  return [
    ...(versions.every(({ isDeployed }) => isDeployed)
      ? [
          well(
            'VERSIONS',
            live === 0 ? 'no run is live' : `${counted(live, 'live run', isCut)}, each on a deployed version`,
          ),
        ]
      : []),
    ...found,
    ...(isCut ? [note('COUNT_CUT', 'only some tenants and versions with live runs were counted')] : []),
  ];
}
