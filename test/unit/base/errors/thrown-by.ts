/** The reason of a promise's rejection; throws if it resolves. */
export async function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  const [result] = await Promise.allSettled([promise]);
  if (result.status === 'rejected') return result.reason;
  throw new Error('The promise was expected to be rejected');
}
