/**
 * `npm run test:scenarios [NAME...]`: the scenarios of containers that no other script runs, one after another. Those of
 * the e2e tier are the main ones; OpenShift's build half an hour of components first, and have their own rows in
 * CONTRIBUTING.md.
 */
import { runScenarios } from '../e2e/run-scenarios.ts';

await runScenarios(
  [
    ...['first-machine', 'dual-stack', 'ipv6', 'pxe', 'address', 'address-off'],
    ...['aio-medium', 'aio-containerd-1', 'aio-sealed', 'crio', 'sealed', 'sealed-host'],
    ...['workers', 'day-one-workers', 'update', 'worker-update', 'minor-update'],
    ...['in-place', 'in-place-medium'],
    ...['relocate', 'relocate-in-place', 'relocate-dual-stack', 'relocate-ipv6', 'recover'],
  ],
  { deadlineMinutes: 60 },
);
