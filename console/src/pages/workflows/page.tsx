export default function WorkflowsPage(_: { readonly type?: string; readonly id?: string }) {
  return <h1>Workflows</h1>;
}
