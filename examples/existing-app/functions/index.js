/** The shop's own functions. `orders` writes an order to Firestore and charges nothing yet. */
const { createHmac } = require('node:crypto');
const { initializeApp } = require('firebase-admin/app');
const { FieldValue, getFirestore } = require('firebase-admin/firestore');
const { onRequest } = require('firebase-functions/https');
const { defineSecret } = require('firebase-functions/params');

const STRIPE_KEY = defineSecret('STRIPE_KEY');

initializeApp();

/** `POST {orderId, customerId, amountCents}`. Returns a token with which the site asks Stripe for the payment. */
exports.orders = onRequest({ secrets: [STRIPE_KEY] }, async (request, response) => {
  const { orderId, customerId, amountCents } = request.body ?? {};
  const isOrder =
    /^[\w-]{1,64}$/.test(orderId) && typeof customerId === 'string' && Number.isInteger(amountCents);
  if (request.method !== 'POST' || !isOrder) {
    response.status(400).json({ error: 'an order has orderId, customerId and amountCents' });
    return;
  }
  const order = getFirestore().collection('orders').doc(orderId);
  await order.set({ customerId, amountCents, state: 'placed', createdAt: FieldValue.serverTimestamp() });
  await order.collection('events').add({ what: 'placed', at: FieldValue.serverTimestamp() });
  const token = createHmac('sha256', STRIPE_KEY.value()).update(orderId).digest('hex');
  response.status(201).json({ orderId, token });
});
