/** Firebase projects, their IAM policy, APIs and billing. */

import { fieldsOf } from '../masks.ts';
import { defaultAccount, type Google } from '../model.ts';
import { Refusal, type Route } from '../route.ts';
import { asJson, policyOf } from './policies.ts';

const granted = ({ denied }: Google, body: unknown): string[] => {
  const { permissions } = fieldsOf(body as never);
  return Array.isArray(permissions) ? permissions.map(String).filter((one) => !denied.includes(one)) : [];
};

const RESOURCES = 'cloudresourcemanager.googleapis.com';
const USAGE = 'serviceusage.googleapis.com';

export const projects: readonly Route[] = [
  {
    host: 'firebase.googleapis.com',
    method: 'GET',
    path: /^\/v1beta1\/projects\/[^/:]+$/,
    needs: 'firebase.projects.get',
    answer: ({ project, number }) => ({
      projectId: project,
      projectNumber: number,
      displayName: project,
      name: `projects/${project}`,
      state: 'ACTIVE',
      resources: { hostingSite: project },
    }),
  },
  {
    host: 'firebase.googleapis.com',
    method: 'GET',
    path: /^\/v1beta1\/projects\/[^/]+\/adminSdkConfig$/,
    answer: ({ project }) => ({ projectId: project, storageBucket: `${project}.firebasestorage.app` }),
  },
  {
    host: 'firebase.googleapis.com',
    method: 'GET',
    path: /^\/v1beta1\/projects\/[^/]+\/webApps$/,
    answer: () => ({ apps: [] }),
  },
  {
    host: 'firebase-public.firebaseio.com',
    method: 'GET',
    path: /^\/cli\.json$/,
    answer: () => ({}),
  },
  {
    host: 'firebaseextensions.googleapis.com',
    method: 'GET',
    path: /^\/v1beta\/projects\/[^/]+\/instances$/,
    answer: () => ({ instances: [] }),
  },
  {
    host: RESOURCES,
    method: 'GET',
    path: /^\/v1\/projects\/[^/:]+$/,
    needs: 'resourcemanager.projects.get',
    answer: ({ project, number }) => ({
      projectId: project,
      projectNumber: number,
      lifecycleState: 'ACTIVE',
    }),
  },
  {
    host: RESOURCES,
    method: 'POST',
    path: /^\/v1\/projects\/[^/:]+:getIamPolicy$/,
    needs: 'resourcemanager.projects.getIamPolicy',
    answer: ({ policy }) => asJson(policy),
  },
  {
    host: RESOURCES,
    method: 'POST',
    path: /^\/v1\/projects\/[^/:]+:setIamPolicy$/,
    needs: 'resourcemanager.projects.setIamPolicy',
    answer: (google, _groups, { body }) => {
      const policy = policyOf(body);
      for (const { members } of policy.bindings)
        for (const member of members) {
          const [kind, email = ''] = member.split(':');
          if (kind !== 'serviceAccount' || !email.endsWith(`@${google.project}.iam.gserviceaccount.com`))
            continue;
          if (!google.accounts[email])
            throw new Refusal(400, 'INVALID_ARGUMENT', `Service account ${email} does not exist.`);
        }
      google.policy = policy;
      return asJson(policy);
    },
  },
  {
    host: RESOURCES,
    method: 'POST',
    path: /^\/v1\/projects\/[^/:]+:testIamPermissions$/,
    answer: (google, _groups, { body }) => ({ permissions: granted(google, body) }),
  },
  {
    host: 'compute.googleapis.com',
    method: 'GET',
    path: /^\/compute\/v1\/projects\/[^/]+$/,
    answer: (google) => ({ defaultServiceAccount: defaultAccount(google) }),
  },
  {
    host: USAGE,
    method: 'GET',
    path: /^\/v1\/projects\/[^/]+\/services\/(?<api>[^/:]+)$/,
    needs: 'serviceusage.services.get',
    answer: ({ apis }, { api = '' }) => ({ state: apis.includes(api) ? 'ENABLED' : 'DISABLED' }),
  },
  {
    host: USAGE,
    method: 'POST',
    path: /^\/v1\/projects\/[^/]+\/services\/(?<api>[^/:]+):enable$/,
    needs: 'serviceusage.services.enable',
    answer: (google, { api = '' }) => {
      if (!google.billing)
        throw new Refusal(
          400,
          'FAILED_PRECONDITION',
          `Billing must be enabled for activation of service '${api}'.`,
        );
      google.apis.push(api);
      return { done: true };
    },
  },
  {
    host: USAGE,
    method: 'POST',
    path: /^\/v1beta1\/projects\/[^/]+\/services\/[^/:]+:generateServiceIdentity$/,
    answer: () => ({ done: true }),
  },
  {
    host: 'cloudbilling.googleapis.com',
    method: 'GET',
    path: /^\/v1\/projects\/[^/]+\/billingInfo$/,
    answer: ({ billing }) => ({ billingEnabled: billing }),
  },
];
