/**
 * What a promise of somebody else's comes to. Where nothing is left that could settle it, Node would end the process in the middle of
 * its work, without a word: it is rejected then.
 */
export function settled<T>(promise: PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const idle = (): void => reject(new Error('its promise is never settled'));
    const done = (): void => void process.off('beforeExit', idle);
    process.once('beforeExit', idle);
    promise.then(resolve, reject).then(done, done);
  });
}
