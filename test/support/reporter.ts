import mocha from 'mocha';

/** Mocha's `spec` report, and at the very end one plain line: `N passed, N failed, N skipped`. */
export default class PlainSummary extends mocha.reporters.Spec {
  override epilogue(): void {
    super.epilogue();
    const { passes, failures, pending } = this.stats;
    process.stdout.write(`${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}\n`);
  }
}
