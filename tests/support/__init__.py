"""Helpers of the tests: checkers, systems to test with, browsers, commands, damage."""
