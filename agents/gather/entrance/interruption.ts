/** The first signal closes the bundle, the second one ends the process. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(1);
      controller.abort(new Error(`interrupted by ${name}`));
    });
  }
  return controller.signal;
}
