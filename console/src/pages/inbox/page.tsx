export default function InboxPage(_: { readonly type?: string; readonly id?: string }) {
  return <h1>Inbox</h1>;
}
