/** Secret Manager. */

import { fieldsOf } from '../masks.ts';
import { emptyPolicy, type Fields, type Google, type Secret } from '../model.ts';
import { created, existing, notFound, type Route } from '../route.ts';
import { asJson, policyOf } from './policies.ts';

const HOST = 'secretmanager.googleapis.com';

function secretOf({ secrets: all }: Google, name: string): Secret {
  return existing(all, name, `secrets/${name}`);
}

const described = ({ project }: Google, name: string, { labels }: Secret): Fields => ({
  name: `projects/${project}/secrets/${name}`,
  labels,
  replication: { automatic: {} },
});

const versionOf = (google: Google, name: string, given: string): Fields => {
  const { versions } = secretOf(google, name);
  const version = given === 'latest' ? versions.length : Number(given);
  if (version < 1 || version > versions.length) throw notFound(`secrets/${name}/versions/${given}`);
  return { name: `projects/${google.project}/secrets/${name}/versions/${version}`, state: 'ENABLED' };
};

export const secrets: readonly Route[] = [
  {
    host: HOST,
    method: 'GET',
    path: /^\/v1\/projects\/[^/]+\/secrets\/(?<secret>[^/:]+)$/,
    needs: 'secretmanager.secrets.get',
    answer: (google, { secret = '' }) => described(google, secret, secretOf(google, secret)),
  },
  {
    host: HOST,
    method: 'POST',
    path: /^\/v1\/projects\/[^/]+\/secrets$/,
    needs: 'secretmanager.secrets.create',
    answer: (google, _groups, { body, url }) => {
      const name = url.searchParams.get('secretId') ?? '';
      const secret = { labels: fieldsOf(fieldsOf(body).labels), versions: [], policy: emptyPolicy() };
      return described(google, name, created(google.secrets, name, secret));
    },
  },
  {
    host: HOST,
    method: 'POST',
    path: /^\/v1\/projects\/[^/]+\/secrets\/(?<secret>[^/:]+):addVersion$/,
    needs: 'secretmanager.versions.add',
    answer: (google, { secret = '' }, { body }) => {
      const data = fieldsOf(fieldsOf(body).payload).data;
      secretOf(google, secret).versions.push(Buffer.from(String(data), 'base64').toString());
      return versionOf(google, secret, 'latest');
    },
  },
  {
    host: HOST,
    method: 'GET',
    path: /^\/v1\/projects\/[^/]+\/secrets\/(?<secret>[^/:]+)\/versions\/(?<version>[^/:]+)$/,
    needs: 'secretmanager.versions.get',
    answer: (google, { secret = '', version = '' }) => versionOf(google, secret, version),
  },
  {
    host: HOST,
    method: 'GET',
    path: /^\/v1\/projects\/[^/]+\/secrets\/(?<secret>[^/:]+):getIamPolicy$/,
    needs: 'secretmanager.secrets.getIamPolicy',
    answer: (google, { secret = '' }) => asJson(secretOf(google, secret).policy),
  },
  {
    host: HOST,
    method: 'POST',
    path: /^\/v1\/projects\/[^/]+\/secrets\/(?<secret>[^/:]+):setIamPolicy$/,
    needs: 'secretmanager.secrets.setIamPolicy',
    answer: (google, { secret = '' }, { body }) => {
      const found = secretOf(google, secret);
      found.policy = policyOf(body);
      return asJson(found.policy);
    },
  },
];
