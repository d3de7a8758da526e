/** IAM policies as calls carry them. */
import { fieldsOf } from '../masks.ts';
import { emptyPolicy, type Json, type Policy } from '../model.ts';

/** Policy of a `setIamPolicy`: it replaces the one before. */
export function policyOf(body: Json | undefined): Policy {
  const { bindings } = fieldsOf(fieldsOf(body).policy);
  if (!Array.isArray(bindings)) return emptyPolicy();
  return {
    ...emptyPolicy(),
    bindings: bindings.map(fieldsOf).map(({ role, members }) => ({
      role: String(role),
      members: Array.isArray(members) ? members.map(String) : [],
    })),
  };
}

export const asJson = ({ bindings, etag }: Policy) => ({
  etag,
  version: 1,
  bindings: bindings.map(({ role, members }) => ({ role, members: [...members] })),
});
