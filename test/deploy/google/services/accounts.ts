/** Service accounts. */

import { fieldsOf } from '../masks.ts';
import { emptyPolicy } from '../model.ts';
import { created, existing, notFound, type Route } from '../route.ts';

const HOST = 'iam.googleapis.com';

export const accounts: readonly Route[] = [
  {
    host: HOST,
    method: 'GET',
    path: /^\/v1\/projects\/[^/]+\/serviceAccounts$/,
    needs: 'iam.serviceAccounts.list',
    answer: ({ accounts: known }) => ({
      accounts: Object.entries(known).map(([email, { description = '' }]) => ({ email, description })),
    }),
  },
  {
    host: HOST,
    method: 'GET',
    path: /^\/v1\/projects\/[^/]+\/serviceAccounts\/(?<email>[^/:]+)$/,
    needs: 'iam.serviceAccounts.get',
    answer: ({ accounts: known, project }, { email = '' }) => {
      existing(known, email);
      return { name: `projects/${project}/serviceAccounts/${email}`, email };
    },
  },
  {
    host: HOST,
    method: 'POST',
    path: /^\/v1\/projects\/[^/]+\/serviceAccounts$/,
    needs: 'iam.serviceAccounts.create',
    answer: (google, _groups, { body }) => {
      const email = `${fieldsOf(body).accountId}@${google.project}.iam.gserviceaccount.com`;
      const description = String(fieldsOf(fieldsOf(body).serviceAccount).description);
      created(google.accounts, email, { ...emptyPolicy(), description });
      return { name: `projects/${google.project}/serviceAccounts/${email}`, email };
    },
  },
  {
    host: HOST,
    method: 'DELETE',
    path: /^\/v1\/projects\/[^/]+\/serviceAccounts\/(?<email>[^/:]+)$/,
    needs: 'iam.serviceAccounts.delete',
    answer: (google, { email = '' }) => {
      delete google.accounts[email];
      // Bindings stay, of a member that nobody can become any more.
      for (const binding of google.policy.bindings)
        binding.members = binding.members.map((member) =>
          member === `serviceAccount:${email}` ? `deleted:${member}?uid=${google.serial}` : member,
        );
      return {};
    },
  },
  {
    host: HOST,
    method: 'POST',
    path: /^\/v1\/projects\/[^/]+\/serviceAccounts\/[^/:]+:testIamPermissions$/,
    answer: ({ denied }, _groups, { body }) => {
      const { permissions } = fieldsOf(body);
      const requested = Array.isArray(permissions) ? permissions.map(String) : [];
      return { permissions: requested.filter((one) => !denied.includes(one)) };
    },
  },
  {
    host: HOST,
    method: 'GET',
    path: /^\/v1\/roles\/roles\/(?<role>[\w.]+)$/,
    // firebase-tools asks for `roles/` twice, and shows the name where Google knows no such role.
    answer: (_google, { role = '' }) => {
      throw notFound(`roles/roles/${role}`);
    },
  },
];
