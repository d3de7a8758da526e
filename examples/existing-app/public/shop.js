/** Sends the form as an order. */
const form = document.querySelector('#order');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const order = {
    orderId: crypto.randomUUID(),
    customerId: 'guest',
    amountCents: Number(form.amountCents.value),
  };
  const answer = await fetch('/api/orders', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  form.answer.value = answer.ok ? `Order ${order.orderId} is placed` : 'The order was refused';
});
