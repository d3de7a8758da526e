import { status } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import {
  type IamPolicy,
  iamCalls,
  type SetPolicyRequest,
} from '../../packages/local-kit/src/iam/policies.ts';
import { GrpcRefusal } from '../../packages/local-kit/src/wire/grpc-refusal.ts';

const RESOURCE = 'topics/news';
const editors = { role: 'roles/pubsub.editor', members: ['group:team@example.com'] };
const viewers = { role: 'roles/pubsub.viewer', members: ['allUsers'] };
const condition = { expression: 'request.time < timestamp("2027-01-01T00:00:00Z")', title: 'until 2027' };

interface Told {
  readonly version: number;
  readonly bindings: readonly { readonly role: string; readonly condition?: object }[];
  readonly etag: Buffer;
}

function server() {
  const kept = new Map<string, IamPolicy>();
  const calls = iamCalls({
    store: {
      policy: (resource) => kept.get(resource),
      putPolicy: (resource, policy) => void kept.set(resource, policy),
    },
    now: () => Date.UTC(2026, 0, 1),
    requireResource: (name) => {
      if (name !== RESOURCE) throw new GrpcRefusal(status.NOT_FOUND, 'missing');
    },
  });
  const set = (request: SetPolicyRequest) => calls.SetIamPolicy({ resource: RESOURCE, ...request }) as Told;
  const get = (requestedPolicyVersion = 0) =>
    calls.GetIamPolicy({ resource: RESOURCE, options: { requestedPolicyVersion } }) as Told;
  return { ...calls, set, get };
}

function codeOf(call: () => unknown): status | undefined {
  try {
    call();
  } catch (error) {
    return (error as GrpcRefusal).code;
  }
  return undefined;
}

describe('a policy', () => {
  test('that was never set is empty, has version 0 and a fixed etag', () => {
    const { get } = server();
    expect(get()).toEqual({ version: 0, bindings: [], etag: Buffer.from('ACAB', 'base64') });
  });

  test('is read as it was set; bindings of one role are merged, and bindings without members are dropped', () => {
    const { set, get } = server();
    const more = { ...editors, members: ['user:a@example.com', ...editors.members] };
    const made = set({ policy: { bindings: [editors, viewers, more, { ...viewers, members: [] }] } });
    expect(made).toMatchObject({
      version: 1,
      bindings: [{ ...editors, members: ['group:team@example.com', 'user:a@example.com'] }, viewers],
    });
    expect(get()).toEqual(made);
  });

  test('can be changed with its newest etag or without one, and not with an older one', () => {
    const { set, get } = server();
    const never = get().etag;
    const first = set({ policy: { bindings: [editors], etag: never } });
    expect(codeOf(() => set({ policy: { bindings: [], etag: never } }))).toBe(status.ABORTED);
    const second = set({ policy: { bindings: [viewers], etag: first.etag } });
    expect(second.etag.equals(first.etag)).toBe(false);
    expect(codeOf(() => set({ policy: { bindings: [], etag: first.etag } }))).toBe(status.ABORTED);
    expect(get().bindings).toEqual([viewers]);
    expect(set({ policy: { bindings: [editors] } }).bindings).toEqual([editors]);
  });

  test('with a condition is version 3: callers that request version 3 get it in full, others get a placeholder role', () => {
    const { set, get } = server();
    const bindings = [{ ...editors, condition }];
    expect(codeOf(() => set({ policy: { bindings } }))).toBe(status.INVALID_ARGUMENT);
    set({ policy: { version: 3, bindings } });
    expect(get(3)).toMatchObject({ version: 3, bindings });
    expect(get()).toMatchObject({
      version: 1,
      bindings: [{ role: expect.stringMatching(/^roles\/pubsub\.editor_withcond_[0-9a-f]{20}$/) }],
    });
    expect(get().bindings[0]?.condition).toBeUndefined();
  });

  test.each<[string, SetPolicyRequest, status]>([
    ['none', {}, status.INVALID_ARGUMENT],
    ['an unknown role', { policy: { bindings: [{ ...editors, role: 'editor' }] } }, status.INVALID_ARGUMENT],
    ['an unknown kind of member', { policy: { bindings: [{ ...editors, members: ['me'] }] } }, 3],
    ['version 2', { policy: { version: 2 } }, status.INVALID_ARGUMENT],
    ['a mask of nothing there is', { policy: {}, updateMask: { paths: ['owner'] } }, 3],
    ['audit settings', { policy: { auditConfigs: [{}] } }, status.UNIMPLEMENTED],
    ['a missing resource', { resource: 'topics/none', policy: {} }, status.NOT_FOUND],
    [
      'too many members',
      {
        policy: {
          bindings: [
            { ...editors, members: Array.from({ length: 1501 }, (_, n) => `user:${n}@example.com`) },
          ],
        },
      },
      status.INVALID_ARGUMENT,
    ],
  ])('of %s is refused', (_what, request, code) => {
    const { set, get } = server();
    expect(codeOf(() => set(request))).toBe(code);
    expect(get().version).toBe(0);
  });

  test('keeps its bindings if the update mask does not name them', () => {
    const { set } = server();
    set({ policy: { bindings: [editors] } });
    expect(set({ policy: {}, updateMask: { paths: ['etag'] } }).bindings).toEqual([editors]);
  });
});

test('testIamPermissions grants every permission on a resource, and none on a missing resource', () => {
  const { TestIamPermissions } = server();
  const permissions = ['pubsub.topics.get', 'pubsub.topics.publish'];
  expect(TestIamPermissions({ resource: RESOURCE, permissions })).toEqual({ permissions });
  expect(TestIamPermissions({ resource: 'topics/none', permissions })).toEqual({ permissions: [] });
  expect(codeOf(() => TestIamPermissions({ resource: RESOURCE, permissions: ['pubsub.*'] }))).toBe(
    status.INVALID_ARGUMENT,
  );
});
