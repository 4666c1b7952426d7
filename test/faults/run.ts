/** `npm run test:faults [NAME...]`: every fault of lab/faults on real hosts. */
import { faults } from '../../lab/faults/index.ts';
import { runScenarios } from '../e2e/run-scenarios.ts';

await runScenarios(Object.keys(faults));
