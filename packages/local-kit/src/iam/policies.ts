/**
 * Access policies of a server's resources: read, replace and test. Owns their format, their etags and concurrent
 * changes, as IAM documents them. Enforces nothing: every caller on this machine has all permissions, and a test of
 * permissions returns all.
 *
 * Must not: know the resources, or store policies itself.
 */
import { createHash } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { GrpcRefusal } from '../wire/grpc-refusal.ts';

export interface Condition {
  readonly expression: string;
  readonly title: string;
  readonly description: string;
  readonly location: string;
}

export interface RoleBinding {
  readonly role: string;
  readonly members: readonly string[];
  readonly condition: Condition | undefined;
}

export interface IamPolicy {
  /** Increases with every change of the policy; used as its etag. */
  readonly revision: number;
  readonly bindings: readonly RoleBinding[];
}

export interface PolicyStore {
  policy(resource: string): IamPolicy | undefined;
  putPolicy(resource: string, policy: IamPolicy): void;
}

export interface WirePolicy {
  readonly version?: number | null;
  readonly bindings?: readonly WireBinding[] | null;
  readonly auditConfigs?: readonly object[] | null;
  readonly etag?: Uint8Array | string | null;
}

interface WireBinding {
  readonly role?: string | null;
  readonly members?: readonly string[] | null;
  readonly condition?: { readonly [field in keyof Condition]?: string | null } | null;
}

export interface GetPolicyRequest {
  readonly resource?: string | null;
  readonly options?: { readonly requestedPolicyVersion?: number | null } | null;
}

export interface SetPolicyRequest {
  readonly resource?: string | null;
  readonly policy?: WirePolicy | null;
  readonly updateMask?: { readonly paths?: readonly string[] | null } | null;
}

export interface TestPermissionsRequest {
  readonly resource?: string | null;
  readonly permissions?: readonly string[] | null;
}

export interface IamOptions {
  readonly store: PolicyStore;
  readonly now: () => number;
  /** Throws the server's own errors: for an invalid name, and NOT_FOUND for a missing resource. */
  readonly requireResource: (name: string) => void;
}

/** Limit for all bindings of a policy together, as documented. */
const MAX_MEMBERS = 1500;
/** Etag in production for a resource whose policy was never set: `ACAB`. */
const NEVER_SET = Buffer.from([0x00, 0x20, 0x01]);
const CONDITIONAL = 3;
const VERSIONS = [0, 1, CONDITIONAL];
const ROLE = /^(?:roles|(?:projects|organizations)\/[^/\s]+\/roles)\/[A-Za-z0-9._]+$/;
const MEMBER =
  /^(?:allUsers|allAuthenticatedUsers|(?:deleted:)?(?:user|serviceAccount|group):\S+@\S+|domain:\S+|project(?:Owner|Editor|Viewer):\S+|(?:deleted:)?principal(?:Set)?:\/\/\S+)$/;
const PERMISSION = /^[a-z]+\.[A-Za-z]+\.[A-Za-z]+$/;

/** The calls of `google.iam.v1.IAMPolicy` by name; each returns the response message or throws. */
export function iamCalls({ store, now, requireResource }: IamOptions) {
  return {
    GetIamPolicy({ resource, options }: GetPolicyRequest) {
      const name = resource ?? '';
      requireResource(name);
      const requestedVersion = options?.requestedPolicyVersion ?? 0;
      if (!VERSIONS.includes(requestedVersion))
        throw invalid(`The requested policy version ${requestedVersion} is unknown.`);
      return toWire(store.policy(name), requestedVersion);
    },

    SetIamPolicy({ resource, policy, updateMask }: SetPolicyRequest) {
      const name = resource ?? '';
      requireResource(name);
      if (!policy) throw invalid('SetIamPolicyRequest.policy must be set.');
      const before = store.policy(name);
      const bindings = takesBindings(updateMask?.paths) ? bindingsFrom(policy) : (before?.bindings ?? []);
      requireCurrent(before, policy.etag);
      // Follows the clock as in production, so that a recreated resource never gets an old etag.
      const revision = Math.max((before?.revision ?? 0) + 1, Math.floor(now() * 1000));
      store.putPolicy(name, { revision, bindings });
      return toWire({ revision, bindings }, CONDITIONAL);
    },

    /** Returns all requested permissions; none for a missing resource, as documented. */
    TestIamPermissions({ resource, permissions }: TestPermissionsRequest) {
      for (const permission of permissions ?? []) {
        if (!PERMISSION.test(permission)) {
          throw invalid(`Permission ${shown(permission)} is not valid for this resource.`);
        }
      }
      try {
        requireResource(resource ?? '');
      } catch (error) {
        if ((error as { code?: status }).code === status.NOT_FOUND) return { permissions: [] };
        throw error;
      }
      return { permissions: [...(permissions ?? [])] };
    },
  };
}

/** True without a mask. The etag is always compared. */
function takesBindings(paths: readonly string[] | null | undefined): boolean {
  if (!paths || paths.length === 0) return true;
  for (const path of paths) {
    if (path === 'audit_configs' || path === 'auditConfigs') throw auditUnimplemented();
    if (!['bindings', 'etag', 'version'].includes(path)) {
      throw invalid(`SetIamPolicyRequest.update_mask: '${shown(path)}' is not a field of a policy.`);
    }
  }
  return paths.includes('bindings');
}

function bindingsFrom({ version, bindings, auditConfigs }: WirePolicy): RoleBinding[] {
  if (auditConfigs && auditConfigs.length > 0) throw auditUnimplemented();
  if (!VERSIONS.includes(version ?? 0)) throw invalid(`Policy.version ${version} is unknown.`);
  const merged = new Map<string, RoleBinding>();
  let members = 0;
  for (const wire of bindings ?? []) {
    const binding = bindingFrom(wire);
    if (binding.condition && version !== CONDITIONAL) {
      throw invalid('A policy with conditional role bindings must have version 3.');
    }
    members += binding.members.length;
    if (members > MAX_MEMBERS) throw invalid(`A policy must have at most ${MAX_MEMBERS} members.`);
    if (binding.members.length === 0) continue;
    const key = JSON.stringify([binding.role, binding.condition]);
    const known = merged.get(key)?.members ?? [];
    merged.set(key, { ...binding, members: [...new Set([...known, ...binding.members])] });
  }
  return [...merged.values()];
}

function bindingFrom({ role, members, condition }: WireBinding): RoleBinding {
  if (!ROLE.test(role ?? '')) throw invalid(`Role ${shown(role ?? '')} is not supported for this resource.`);
  for (const member of members ?? []) {
    if (!MEMBER.test(member)) {
      throw invalid(`The member ${shown(member)} is of an unknown type or has no value.`);
    }
  }
  if (condition && !condition.expression) throw invalid('Binding.condition.expression must be set.');
  return {
    role: role ?? '',
    members: [...(members ?? [])],
    condition: condition
      ? {
          expression: condition.expression ?? '',
          title: condition.title ?? '',
          description: condition.description ?? '',
          location: condition.location ?? '',
        }
      : undefined,
  };
}

/** Without an etag the policy is always replaced. */
function requireCurrent(before: IamPolicy | undefined, etag: WirePolicy['etag']): void {
  if (!etag || etag.length === 0) return;
  const etagBytes = typeof etag === 'string' ? Buffer.from(etag, 'base64') : Buffer.from(etag);
  if (etagBytes.equals(etagOf(before))) return;
  throw new GrpcRefusal(
    status.ABORTED,
    'There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff.',
  );
}

function etagOf(policy: IamPolicy | undefined): Buffer {
  if (policy === undefined) return NEVER_SET;
  const etag = Buffer.alloc(8);
  etag.writeBigUInt64BE(BigInt(policy.revision));
  // The first byte of production's etags.
  etag[0] = 0x07;
  return etag;
}

/** Callers that do not request version 3 get a placeholder name for a conditional role. */
function toWire(policy: IamPolicy | undefined, requestedVersion: number): object {
  const bindings = policy?.bindings ?? [];
  const conditional = bindings.some(({ condition }) => condition);
  const shown = bindings.map(({ role, members, condition }) => {
    if (condition === undefined) return { role, members };
    return requestedVersion === CONDITIONAL
      ? { role, members, condition }
      : { role: hidden(role, condition), members };
  });
  const version = conditional && requestedVersion === CONDITIONAL ? CONDITIONAL : 1;
  return { version: policy ? version : 0, bindings: shown, etag: etagOf(policy) };
}

const hidden = (role: string, condition: Condition) =>
  `${role}_withcond_${createHash('sha256').update(JSON.stringify(condition)).digest('hex').slice(0, 20)}`;

const invalid = (message: string) => new GrpcRefusal(status.INVALID_ARGUMENT, message);

const auditUnimplemented = () =>
  new GrpcRefusal(status.UNIMPLEMENTED, 'Policy.audit_configs is not implemented by the local cloud.');

/** Truncates names in errors, so that the answer fits gRPC's headers. */
const shown = (name: string) => name.slice(0, 200).replace(/[^\x20-\x7e]/g, '?');
