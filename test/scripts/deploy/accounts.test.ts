import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';

const { unusedAccount } = createRequire(import.meta.url)('../../../scripts/deploy/accounts.cjs');

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
