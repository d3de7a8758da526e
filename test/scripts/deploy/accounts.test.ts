import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';

const { roleDifferences, unusedAccount } = createRequire(import.meta.url)(
  '../../../scripts/deploy/accounts.cjs',
);

const LEFT = {
  email: 'firebase-fn-1@p.iam.gserviceaccount.com',
  description: 'Managed by Firebase CLI for codebase cairn',
};

function search(accounts: readonly object[], used: readonly string[] = [], status = 200): Promise<unknown> {
  class Client {
    async get() {
      if (status !== 200) throw Object.assign(new Error('refused'), { status });
      return { body: { accounts } };
    }
  }
  const functions = used.map((serviceAccountEmail) => ({ serviceConfig: { serviceAccountEmail } }));
  const modules: Record<string, object> = {
    'firebase-tools/lib/apiv2': { Client },
    'firebase-tools/lib/gcp/cloudfunctionsv2': {
      listAllFunctions: async () => ({ functions, unreachable: [] }),
    },
  };
  return unusedAccount('p', 'cairn', (name: string) => modules[name]);
}

describe('the account of an interrupted first deployment', () => {
  test.each<[string, object[], string[], string | undefined]>([
    ['that no function uses', [LEFT], [], 'firebase-fn-1'],
    ['that functions use', [LEFT], [LEFT.email], undefined],
    [
      'of another codebase',
      [{ ...LEFT, description: 'Managed by Firebase CLI for codebase shop' }],
      [],
      undefined,
    ],
    ['that somebody disabled', [{ ...LEFT, disabled: true }], [], undefined],
    ['with a name of its own', [{ ...LEFT, email: 'own@p.iam.gserviceaccount.com' }], [], undefined],
  ])('%s', async (_, accounts, used, found) => {
    expect(await search(accounts, used)).toBe(found);
  });

  test('is not looked for without the permission', async () => {
    expect(await search([LEFT], [], 403)).toBeUndefined();
    await expect(search([LEFT], [], 503)).rejects.toThrow('refused');
  });
});

describe('roles of the account of functions', () => {
  const [USER, INVOKER, OLD, ADDED] = [
    'datastore.user',
    'run.invoker',
    'eventarc.eventReceiver',
    'bigquery.user',
  ];
  const NONE = { lost: [], left: [] };

  interface Account {
    readonly actual: readonly string[] | undefined;
    /** Labels of the deployed functions. */
    readonly etags?: readonly (string | undefined)[];
    /** Roles that firebase-tools believes to be granted; null: it did not ask. Default: the required ones. */
    readonly haveRoles?: readonly string[] | null;
  }

  function compared({ actual, etags = ['new', 'new'], haveRoles }: Account): Promise<unknown> {
    const requiredRoles = [USER, INVOKER];
    const modules: Record<string, object> = {
      'firebase-tools/lib/gcp/resourceManager': {
        getServiceAccountRoles: async () => {
          if (actual === undefined) throw Object.assign(new Error('refused'), { status: 403 });
          return actual;
        },
      },
      'firebase-tools/lib/deploy/functions/backend': { allEndpoints: (all: readonly object[]) => all },
    };
    const haveBackend = etags.map((etag) => ({
      labels: etag && { 'firebase-declarative-security-etag': etag },
    }));
    const wantBackend = { requiredRoles };
    const given = { projectId: 'p', wantBackend, haveBackend, existingManagedSA: 'a' };
    return roleDifferences(
      { ...given, haveRoles: haveRoles === undefined ? requiredRoles : haveRoles },
      (name: string) => modules[name],
    );
  }

  test.each<[string, Account, object]>([
    ['that are as required', { actual: [USER, INVOKER] }, NONE],
    ['that somebody removed', { actual: [USER] }, { lost: [INVOKER], left: [] }],
    ['that somebody added', { actual: [USER, INVOKER, ADDED] }, NONE],
    [
      'that a deployment did not remove, because it failed at some functions',
      { actual: [USER, INVOKER, OLD], etags: ['new', 'old'] },
      { lost: [], left: [OLD] },
    ],
    [
      'that firebase-tools knows to be no longer required',
      { actual: [USER, INVOKER, OLD], etags: ['old', 'new'], haveRoles: [USER, INVOKER, OLD] },
      NONE,
    ],
    ['of which a function has no label', { actual: [USER, INVOKER, ADDED], etags: ['new', undefined] }, NONE],
    [
      'of a codebase without functions',
      { actual: [USER, ADDED], etags: ['new', 'old'], haveRoles: null },
      NONE,
    ],
    ['that cannot be read', { actual: undefined, etags: ['new', 'old'] }, NONE],
  ])('%s', async (_, account, found) => {
    expect(await compared(account)).toEqual(found);
  });
});
