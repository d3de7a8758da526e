export default function RunsPage(_: { readonly type?: string; readonly id?: string }) {
  return <h1>Runs</h1>;
}
