/** The access policies of a server's resources in its SQLite database. */
import type { Statement } from '../sqlite/grouped-database.ts';
import type { IamPolicy, PolicyStore } from './policies.ts';

/** Part of the schema of the database. */
export const POLICY_SCHEMA =
  'CREATE TABLE IF NOT EXISTS policies (resource TEXT PRIMARY KEY, policy TEXT NOT NULL) STRICT;';

/** Part of its statements. */
export const POLICY_SQL = {
  policy: 'SELECT policy FROM policies WHERE resource = ?',
  putPolicy:
    'INSERT INTO policies VALUES (?, ?) ON CONFLICT (resource) DO UPDATE SET policy = excluded.policy',
  deletePolicy: 'DELETE FROM policies WHERE resource = ?',
} as const;

export function policyTable(statements: Readonly<Record<'policy' | 'putPolicy', Statement>>): PolicyStore {
  return {
    policy(resource) {
      const row = statements.policy.get(resource);
      return row && (JSON.parse(String(row.policy)) as IamPolicy);
    },
    putPolicy(resource, policy) {
      statements.putPolicy.run(resource, JSON.stringify(policy));
    },
  };
}
