/** `clients …`: the API clients of the tenant, and their keys. */
import { ago } from '@cairn/client';
import type { Answer } from 'cairn/api/calls';
import { command } from '../arguments/command.ts';
import { table } from '../render/table.ts';

const ROLES = ['viewer', 'submitter', 'operator', 'admin', 'installation'] as const;
const CLIENT = { help: 'id of the client, see clients list' } as const;
const MAX_GRACE_S = 7 * 24 * 3_600;

export const listClients = command({
  name: 'clients list',
  summary: 'List the API clients of the tenant',
  examples: [['clients list', 'without keys: they are shown once']],
  async run({ api, out, notes }) {
    const { items, more } = await api.get('/v1/clients');
    out.answer({ items, more }, (shape) =>
      table(
        items,
        [
          { title: 'CLIENT', of: ({ id }) => id },
          { title: 'NAME', of: ({ name }) => name ?? '', least: 10 },
          {
            title: 'ROLE',
            of: ({ role, revoked }) => (revoked ? 'revoked' : (role ?? 'none')),
            tone: ({ revoked }) => (revoked ? 'dim' : 'plain'),
          },
          {
            title: 'CREATED',
            of: ({ createdAt }) => ago(createdAt, api.now()),
            align: 'right',
            dropOrder: 2,
          },
          { title: 'BY', of: ({ createdBy }) => createdBy ?? '', dropOrder: 3 },
          {
            title: 'OLD SECRET ENDS',
            of: ({ oldSecretsEndAt }) => ago(oldSecretsEndAt.at(-1), api.now()),
            dropOrder: 1,
          },
        ],
        shape,
      ),
    );
    if (more && !out.json) notes.print(notes.style.dim('More clients exist than can be listed.\n'));
  },
});

export const createClient = command({
  name: 'clients create',
  summary: 'Create an API client; its key is shown once',
  args: { name: { help: 'name of the client' }, role: { help: 'role', choices: ROLES } },
  mutates: true,
  examples: [['clients create CI submitter', 'can start and read runs']],
  async run({ api, out, notes }, { args }) {
    const client = await api.change('POST', '/v1/clients', { body: args });
    out.answer(client, () => `${client.id}\n${secretText(client)}`);
    if (!out.json && client.secret !== undefined) notes.print(notes.style.dim(SHOWN_ONCE));
  },
});

export const rotateClient = command({
  name: 'clients rotate',
  summary: 'Rotate the key of a client; the old key expires after a grace period',
  args: { client: CLIENT },
  options: {
    grace: {
      type: 'number',
      value: 'SECONDS',
      range: [0, MAX_GRACE_S],
      help: 'seconds until the old key expires (default: one day; 0: at once)',
    },
  },
  mutates: true,
  examples: [['clients rotate 4be1 --grace 0', 'after the old key leaked']],
  async run({ api, out, notes }, { args, options: { grace } }) {
    const body = { graceSeconds: grace };
    const client = await api.change('POST', '/v1/clients/{id}/rotate', { params: { id: args.client }, body });
    out.answer(client, () => secretText(client));
    if (!out.json && client.secret !== undefined) notes.print(notes.style.dim(SHOWN_ONCE));
  },
});

export const revokeClient = command({
  name: 'clients revoke',
  summary: 'Revoke a client permanently',
  args: { client: CLIENT },
  mutates: true,
  examples: [['clients revoke 4be1', 'takes effect within fifteen seconds']],
  async run({ api, out }, { args }) {
    const client = await api.change('POST', '/v1/clients/{id}/revoke', { params: { id: args.client } });
    out.answer(client, () => `revoked ${client.id}\n`);
  },
});

const SHOWN_ONCE = 'Store it now: it is never shown again.\n';

function secretText({ secret }: Answer<'ClientWithSecret'>): string {
  return secret === undefined
    ? 'The key was in the answer to the first request with this idempotency key. If it is lost, rotate the client.\n'
    : `${secret}\n`;
}
