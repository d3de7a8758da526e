/** Cloud Functions of the second generation, and the builds that make services of them. */

import { fieldsOf, updated } from '../masks.ts';
import { defaultAccount, emptyPolicy, type Fields, type Google, hasRole } from '../model.ts';
import { checkNew, existing, Refusal, type Route } from '../route.ts';

const HOST = 'cloudfunctions.googleapis.com';
const BUILDER = ['roles/cloudbuild.builds.builder', 'roles/editor'];

function operation(google: Google, response: Fields, error?: Fields): Fields {
  google.serial += 1;
  const name = `projects/${google.project}/locations/us-central1/operations/${google.serial}`;
  google.operations[name] = error ? { name, done: true, error } : { name, done: true, response };
  return { name, done: false };
}

/** The build runs as the default account, which in a new project may do nothing. */
function buildFailure(google: Google): Fields | undefined {
  const account = defaultAccount(google);
  if (BUILDER.some((role) => hasRole(google, account, role))) return undefined;
  return {
    code: 3,
    message:
      'Build failed with status: FAILURE. Could not build the function due to a missing permission on the build service account. ' +
      "If you didn't revoke that permission explicitly, this could be caused by a change in the organization policies.",
  };
}

/** The function as Google keeps it, and the Cloud Run service beside it, whose policy an update leaves alone. */
function keep(google: Google, name: string, given: Fields): Fields {
  const [, project, , region = '', , id = ''] = name.split('/');
  const service = `projects/${project}/locations/${region}/services/${id.toLowerCase()}`;
  const config = fieldsOf(given.serviceConfig);
  const uri = `https://${id.toLowerCase()}-${google.number}.${region}.run.app`;
  const kept = {
    ...given,
    name,
    state: 'ACTIVE',
    environment: 'GEN_2',
    url: `https://${region}-${project}.cloudfunctions.net/${id}`,
    serviceConfig: {
      ...config,
      service,
      uri,
      serviceAccountEmail: config.serviceAccountEmail ?? defaultAccount(google),
    },
  };
  google.functions[name] = kept;
  google.services[service] = {
    policy: google.services[service]?.policy ?? emptyPolicy(),
    spec: { metadata: { name: id.toLowerCase() } },
  };
  const repository = `projects/${project}/locations/${region}/repositories/gcf-artifacts`;
  google.repositories[repository] ??= { name: repository, labels: {} };
  return kept;
}

function checkAccount(google: Google, given: Fields): void {
  const email = fieldsOf(given.serviceConfig).serviceAccountEmail;
  if (typeof email === 'string' && !google.accounts[email])
    throw new Refusal(404, 'NOT_FOUND', `Service account ${email} was not found.`);
}

export const functions: readonly Route[] = [
  {
    host: HOST,
    method: 'GET',
    path: /^\/v1\/projects\/[^/]+\/locations\/-\/functions$/,
    needs: 'cloudfunctions.functions.list',
    answer: () => ({ functions: [] }),
  },
  {
    host: HOST,
    method: 'GET',
    path: /^\/v2\/projects\/[^/]+\/locations\/-\/functions$/,
    needs: 'cloudfunctions.functions.list',
    answer: ({ functions: all }) => ({ functions: Object.values(all) }),
  },
  {
    host: HOST,
    method: 'POST',
    path: /^\/v2\/projects\/(?<project>[^/]+)\/locations\/(?<region>[^/]+)\/functions:generateUploadUrl$/,
    needs: 'cloudfunctions.functions.sourceCodeSet',
    answer: (_google, { project, region }) => ({
      uploadUrl: `https://storage.googleapis.com/gcf-v2-uploads-${project}-${region}/source.zip?signature=1`,
      storageSource: { bucket: `gcf-v2-uploads-${project}-${region}`, object: 'source.zip', generation: '1' },
    }),
  },
  {
    host: 'storage.googleapis.com',
    method: 'PUT',
    path: /^\/gcf-v2-uploads-[^/]+\/source\.zip$/,
    answer: () => ({}),
  },
  {
    host: HOST,
    method: 'POST',
    path: /^\/v2\/(?<parent>projects\/[^/]+\/locations\/[^/]+)\/functions$/,
    needs: 'cloudfunctions.functions.create',
    answer: (google, { parent }, { body, url }) => {
      const name = `${parent}/functions/${url.searchParams.get('functionId')}`;
      const given = fieldsOf(body);
      checkNew(google.functions, name);
      checkAccount(google, given);
      const failure = buildFailure(google);
      if (failure) return operation(google, {}, failure);
      return operation(google, keep(google, name, given));
    },
  },
  {
    host: HOST,
    method: 'PATCH',
    path: /^\/v2\/(?<name>projects\/[^/]+\/locations\/[^/]+\/functions\/[^/]+)$/,
    needs: 'cloudfunctions.functions.update',
    answer: (google, { name = '' }, { body, url }) => {
      const old = existing(google.functions, name);
      checkAccount(google, fieldsOf(body));
      const failure = buildFailure(google);
      if (failure) return operation(google, {}, failure);
      const mask = url.searchParams.get('updateMask') ?? '';
      return operation(google, keep(google, name, updated(old, fieldsOf(body), mask)));
    },
  },
  {
    host: HOST,
    method: 'DELETE',
    path: /^\/v2\/(?<name>projects\/[^/]+\/locations\/[^/]+\/functions\/[^/]+)$/,
    needs: 'cloudfunctions.functions.delete',
    answer: (google, { name = '' }) => {
      const old = existing(google.functions, name);
      delete google.services[String(fieldsOf(old.serviceConfig).service)];
      delete google.functions[name];
      return operation(google, {});
    },
  },
  {
    host: HOST,
    method: 'GET',
    path: /^\/v2\/(?<name>projects\/[^/]+\/locations\/[^/]+\/operations\/[^/]+)$/,
    needs: 'cloudfunctions.operations.get',
    answer: ({ operations }, { name = '' }) => existing(operations, name),
  },
];
