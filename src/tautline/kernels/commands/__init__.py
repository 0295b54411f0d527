"""Reel commands, one file each; the registry names them. A locked drum needs none, a free one has a torque of zero.

A file has `drive(par, command, near, far, s)`, what the command does at the near end of a step, and
`motor_force(par, command, t, s)`, the motor's force on s at a time (N), as it is reported.
"""
