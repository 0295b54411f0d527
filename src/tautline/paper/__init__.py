"""The paper's numerical section, reproduced."""
