/** The words of `wakechart fleet`. */
import type { Command } from 'commander';
import type { StoreProgram } from './store-program.ts';

export function addFleetCommand(program: Command, { run, withExamples }: StoreProgram): void {
  const fleet = program.command('fleet').description('the workers over a PostgreSQL database: who lives, which sessions each wakes, what is due and nobody has taken, which sessions are parked');
  withExamples(fleet, 'wakechart fleet --store postgres://worker@db.example.com/work', 'wakechart fleet --json').action(() => run(fleet, async (context) => (await import('./commands/fleet.ts')).showFleet(context)));
}
