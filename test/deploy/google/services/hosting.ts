/** Firebase Hosting: versions with their files, and releases. */

import { fieldsOf } from '../masks.ts';
import type { Route } from '../route.ts';

const HOST = 'firebasehosting.googleapis.com';
const UPLOADS = 'upload-firebasehosting.googleapis.com';

export const hosting: readonly Route[] = [
  {
    host: HOST,
    method: 'GET',
    path: /^\/v1beta1\/projects\/(?<project>[^/]+)\/sites$/,
    answer: (_google, { project }) => ({
      sites: [{ name: `projects/${project}/sites/${project}`, type: 'DEFAULT_SITE' }],
    }),
  },
  {
    host: HOST,
    method: 'GET',
    path: /^\/v1beta1\/projects\/(?<project>[^/]+)\/sites\/[^/]+$/,
    answer: (_google, { project }) => ({
      name: `projects/${project}/sites/${project}`,
      type: 'DEFAULT_SITE',
    }),
  },
  {
    host: HOST,
    method: 'POST',
    path: /^\/v1beta1\/(?:projects\/[^/]+\/)?(?<site>sites\/[^/]+)\/versions$/,
    needs: 'firebasehosting.sites.update',
    answer: (google, { site }, { body }) => {
      google.serial += 1;
      const name = `projects/${google.project}/${site}/versions/${google.serial}`;
      google.hosting.versions[name] = { ...fieldsOf(body), name };
      return { name };
    },
  },
  {
    host: HOST,
    method: 'POST',
    path: /^\/v1beta1\/(?<version>projects\/[^/]+\/sites\/[^/]+\/versions\/[^/]+):populateFiles$/,
    answer: (google, { version = '' }, { body }) => {
      const kept = google.hosting.versions[version];
      if (kept) kept.files = fieldsOf(fieldsOf(body).files);
      return {
        uploadRequiredHashes: Object.values(fieldsOf(fieldsOf(body).files)) as string[],
        uploadUrl: `https://${UPLOADS}/upload/${version}/files`,
      };
    },
  },
  {
    host: UPLOADS,
    method: 'POST',
    path: /^\/upload\/.*$/,
    answer: () => ({}),
  },
  {
    host: HOST,
    method: 'PATCH',
    path: /^\/v1beta1\/(?<version>projects\/[^/]+\/sites\/[^/]+\/versions\/[^/]+)$/,
    answer: (google, { version = '' }, { body }) => {
      google.hosting.versions[version] = {
        ...google.hosting.versions[version],
        ...fieldsOf(body),
        name: version,
      };
      return google.hosting.versions[version] ?? {};
    },
  },
  {
    host: HOST,
    method: 'POST',
    path: /^\/v1beta1\/(?:projects\/[^/]+\/)?sites\/[^/]+\/channels\/[^/]+\/releases$/,
    answer: ({ hosting: site, project }, _groups, { url }) => {
      const release = {
        name: `projects/${project}/releases/1`,
        version: url.searchParams.get('versionName'),
      };
      site.releases.push(release);
      return release;
    },
  },
];
