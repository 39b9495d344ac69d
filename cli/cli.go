package cli

import "github.com/mobgrid/mob/cli/command"

// Mob runs the command mob and returns its exit status.
func Mob(env *command.Env) int { return env.Run(newMob(env)) }

// Mobd runs the command mobd and returns its exit status.
func Mobd(env *command.Env) int { return env.Run(newMobd(env)) }
